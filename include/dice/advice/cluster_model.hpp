// What a program knows of the cluster that it was built for.
#pragma once

#include "dice/cost/setting.hpp"
#include "dice/meta/library.hpp"
#include "dice/runtime/program.hpp"

#include <span>
#include <string>
#include <string_view>

namespace dice::report {
struct seen_run;
}

namespace dice::advice {

struct assessment;

/// The third argument of dice::main as values. Functions are pointers, so that programs without a cluster contain none of
/// their code.
struct cluster_model {
  cost::setting setting;
  std::span<const cost::placed_rank> ranks;  ///< of the program's mapping
  /// What is predicted for the program's mapping, as text or as a JSON object.
  std::string (*plan)(const cluster_model&, const runtime::program&, bool json) = nullptr;
  assessment (*advise)(const cluster_model&, const runtime::program&, const report::seen_run&) = nullptr;
  /// The best mapping for a request, as the command line has it; measured=N runs others with this weights file, if it is not
  /// empty. Throws runtime::usage_error.
  std::string (*search)(const cluster_model&, const runtime::program&, std::string_view request,
                        const std::string& weights) = nullptr;
};

/// The functions that cluster models refer to.
DICE_API std::string predicted_text(const cluster_model& f, const runtime::program& p, bool json);
DICE_API assessment advised(const cluster_model& f, const runtime::program& p, const report::seen_run& run);
DICE_API std::string searched_text(const cluster_model& f, const runtime::program& p, std::string_view request,
                                   const std::string& weights);

}  // namespace dice::advice

#ifdef DICE_HEADER_ONLY
#include "dice/advice/cluster_model.ipp"
#endif
