#pragma once

#include "dice/graph/operator.hpp"

#include <limits>
#include <string_view>

namespace dice::ops {

/// y = min(max(x, low), high). ONNX Clip with constant bounds.
struct clip {
  static constexpr std::string_view onnx = "Clip";
  static constexpr bool in_place = true;
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();

  constexpr graph::fusion fuses(graph::shapes) const {
    return {.function = {graph::activation::kind::clip, low, high}, .monotonic = true};
  }
};

}  // namespace dice::ops
