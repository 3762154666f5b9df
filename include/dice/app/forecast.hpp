// What a program knows of the cluster that it was built for.
#pragma once

#include "dice/partition/setting.hpp"
#include "dice/runtime/program.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dice::app {

struct seen_run;

/// What is predicted of a program's plan.
struct foresight {
  std::vector<double> group_seconds;  ///< by fusion group
  std::vector<platform::link> links;  ///< rank a to rank b at a · ranks + b
  partition::prediction expected{};
};

/// The third argument of dice::main as values. Functions are pointers, so that programs without a cluster contain none of
/// what they do.
struct forecast {
  partition::setting setting;
  std::span<const partition::placed_rank> ranks;  ///< of the program's mapping
  /// What is predicted of the program's mapping, as text or as a member of a JSON object.
  std::string (*plan)(const forecast&, const runtime::program&, bool json) = nullptr;
  foresight (*foresee)(const forecast&, const runtime::program&) = nullptr;
  /// What would be faster than the run that was seen, as text or as a member of a JSON object.
  std::string (*advise)(const forecast&, const runtime::program&, const seen_run&, bool json) = nullptr;
  /// The best mapping for a wish, as the command line has it. Throws usage_error.
  std::string (*search)(const forecast&, const runtime::program&, std::string_view wish) = nullptr;
};

}  // namespace dice::app
