#pragma once

#include "dice/graph/operator.hpp"

#include <limits>
#include <string_view>

namespace dice::ops {

/// y = min(max(x, low), high). ONNX Clip with constant bounds.
struct clip {
  static constexpr std::string_view onnx = "Clip";
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
  DICE_MEMBERS(low, high)

  constexpr graph::activation activation() const { return {graph::activation::kind::clip, low, high}; }
  constexpr bool is_monotonic() const { return true; }
};

}  // namespace dice::ops
