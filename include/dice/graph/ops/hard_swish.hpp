#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// y = x max(0, min(1, x / 6 + 1/2)). ONNX HardSwish.
struct hard_swish {
  static constexpr std::string_view onnx = "HardSwish";
  constexpr graph::activation activation() const { return {graph::activation::kind::hard_swish}; }
};

}  // namespace dice::ops
