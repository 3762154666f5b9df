#pragma once

#include "dice/kernels/detail/vector.hpp"

#include <utility>

namespace dice::kernels::detail {

/// Lane i of line j becomes lane j of line i. Doubling steps: pairs of lines trade every second lane, then every second pair
/// of lanes, and so on.
template <int Step = 1> DICE_INLINED inline void transpose(vec (&lines)[width]) {
  if constexpr (Step < width) {
    [&]<int... L>(std::integer_sequence<int, L...>) DICE_INLINED {
      DICE_UNROLL
      for (int i = 0; i < width; ++i) {
        if (i & Step) continue;
        const vec a = lines[i], b = lines[i + Step];
        lines[i] = __builtin_shufflevector(a, b, (L & Step ? L - Step + width : L)...);
        lines[i + Step] = __builtin_shufflevector(a, b, (L & Step ? L + width : L + Step)...);
      }
    }
    (std::make_integer_sequence<int, width>{});
    transpose<2 * Step>(lines);
  }
}

}  // namespace dice::kernels::detail
