// Which elements an antialiased axis reads, and with what weights: ONNX Resize, antialias. Shared with CUDA kernels.
#pragma once

#include "dice/graph/sampling.hpp"

namespace dice::ops {

/// What an element of the output reads: elements first … first + count - 1 of the input, as of `samples`. Where the output
/// is smaller, the filter is as many times wider.
struct filtered {
  int first, count;
  float center;  ///< where the element lies in the input
  float scale;   ///< of distances to it: at most 1

  DICE_ON_GPUS constexpr int at(int k, int extent) const {
    const int i = first + k;
    return i < 0 ? 0 : i < extent ? i : extent - 1;
  }
  /// The weight of element first + k, to be divided by the sum of all.
  DICE_ON_GPUS constexpr float weight(const sampled_axis& a, int k) const {
    const int i = first + k;
    if (a.exclude_outside && (i < 0 || i >= a.in)) return 0;
    const float d = (static_cast<float>(i) - center) * scale, x = d < 0 ? -d : d, c = a.cubic_a;
    if (a.mode == resizing::linear) return x < 1 ? 1 - x : 0;
    if (x <= 1) return ((c + 2) * x - (c + 3)) * x * x + 1;
    return x < 2 ? ((c * x - 5 * c) * x + 8 * c) * x - 4 * c : 0;
  }
};

/// Half the filter's width, in elements of the input.
DICE_ON_GPUS constexpr float reach_of(const sampled_axis& a) {
  return (a.mode == resizing::cubic ? 2.0f : 1.0f) / (a.scale < 1 ? a.scale : 1.0f);
}

/// What element k of the output reads.
DICE_ON_GPUS constexpr filtered filtered_of(const sampled_axis& a, int k) {
  const float x = detail::source_of(a, k), reach = reach_of(a);
  const int first = detail::floor_of(x - reach) + 1, last = -detail::floor_of(-x - reach) - 1;
  return {first, last - first + 1, x, a.scale < 1 ? a.scale : 1.0f};
}

}  // namespace dice::ops
