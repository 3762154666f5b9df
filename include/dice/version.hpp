#pragma once

#include <string_view>

/// The version as a part of identifiers.
#define DICE_VERSION 0_1_0

namespace dice {

/// The version of this dice: ranks compare it at start, generated headers state it.
inline constexpr std::string_view version = "0.1.0";

}  // namespace dice
