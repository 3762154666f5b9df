#pragma once

#include "dice/placement/mistakes.hpp"

#include <cstdint>

namespace dice::placement {

enum class mistake : unsigned char {
  none,
  no_mapping,  ///< best_mapping found none
#define DICE_NAMES(name, arguments, remedy) name,
  DICE_MISTAKES(DICE_NAMES)
#undef DICE_NAMES
};

/// The first mistake.
struct finding {
  mistake what = mistake::none;
  int position = 0;  ///< of the entry in the mapping
  int index = 0;     ///< in the entry: of the interval, limit, share, or of the layer or option
  int number = 0;    ///< rank, core, threads, GPU, frames, rows of a grid, tiles, share, shares, point, points, layer id
  int more = 0;  ///< the second of two numbers that an error has; with layers in parts, how many ranks (or rows or columns
                 ///< of the grid); layer_in_two_lists, layer_without_device: layers after the first
  std::int64_t bytes = 0;  ///< memory_limit_less_than_plan: what the rank needs
  std::int64_t units = 0;  ///< too_few_…: into how many parts the layer can be cut
  int ranks[2] = {};       ///< layer_in_two_lists: the first ranks of the first two runs that have the layer

  constexpr explicit operator bool() const { return what != mistake::none; }
  friend constexpr bool operator==(const finding&, const finding&) = default;
};

}  // namespace dice::placement
