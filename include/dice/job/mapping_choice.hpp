#pragma once

#include "dice/runtime/other_mapping.hpp"
#include "dice/runtime/usage_error.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace dice::job {

/// A program under the mapping that was given, or unchanged if none was given or if it is wrong.
struct mapping_choice {
  std::unique_ptr<const runtime::other_mapping> other;
  std::string mistake;  ///< in what was given, or ""

  const runtime::program& of(const runtime::program& own) const { return other ? other->program() : own; }
};

/// `option` names the option that gave the mapping, `given` is its value; empty: none.
[[gnu::cold]] inline mapping_choice choose_mapping(const runtime::program& own, std::string_view given, const char* option) {
  mapping_choice out;
  try {
    if (given.empty()) return out;
    if (!own.remap)
      throw runtime::usage_error(
          "this program was compiled for its own mapping only (DICE_FIXED_MAPPING; in a deployment, unless ANY_MAPPING is "
          "given)");
    out.other = own.remap(own, given).it;
  } catch (const runtime::usage_error& e) {
    out.mistake = std::string(option) + ": " + e.what();
  }
  return out;
}

}  // namespace dice::job
