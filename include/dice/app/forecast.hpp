// What a program knows of the cluster that it was built for.
#pragma once

#include "dice/partition/setting.hpp"
#include "dice/runtime/program.hpp"

#include <span>
#include <string>
#include <string_view>

namespace dice::app {

/// The third argument of dice::main as values. Functions are pointers, so that programs without a cluster contain none of
/// what they do.
struct forecast {
  partition::setting setting;
  std::span<const partition::placed_rank> ranks;  ///< of the program's mapping
  /// What is predicted of the program's mapping, as text or as a member of a JSON object.
  std::string (*plan)(const forecast&, const runtime::program&, bool json) = nullptr;
  /// The best mapping for a wish, as the command line has it. Throws usage_error.
  std::string (*search)(const forecast&, const runtime::program&, std::string_view wish) = nullptr;
};

}  // namespace dice::app
