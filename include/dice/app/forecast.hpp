// What a program knows of the cluster that it was built for.
#pragma once

#include "dice/meta/library.hpp"
#include "dice/partition/setting.hpp"
#include "dice/runtime/program.hpp"

#include <span>
#include <string>
#include <string_view>

namespace dice::app {

struct seen_run;
struct outlook;

/// The third argument of dice::main as values. Functions are pointers, so that programs without a cluster contain none of
/// what they do.
struct forecast {
  partition::setting setting;
  std::span<const partition::placed_rank> ranks;  ///< of the program's mapping
  /// What is predicted of the program's mapping, as text or as a member of a JSON object.
  std::string (*plan)(const forecast&, const runtime::program&, bool json) = nullptr;
  outlook (*advise)(const forecast&, const runtime::program&, const seen_run&) = nullptr;
  /// The best mapping for a wish, as the command line has it. Throws usage_error.
  std::string (*search)(const forecast&, const runtime::program&, std::string_view wish) = nullptr;
};

/// What forecasts refer to.
DICE_API std::string predicted_text(const forecast& f, const runtime::program& p, bool json);
DICE_API outlook advised(const forecast& f, const runtime::program& p, const seen_run& run);
DICE_API std::string searched_text(const forecast& f, const runtime::program& p, std::string_view wish);

}  // namespace dice::app

#ifdef DICE_HEADER_ONLY
#include "dice/app/forecast.ipp"
#endif
