#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// y = max(x, 0). ONNX Relu.
struct relu {
  static constexpr std::string_view onnx = "Relu";
  constexpr graph::activation activation() const { return {graph::activation::kind::relu}; }
  constexpr bool is_monotonic() const { return true; }
};

}  // namespace dice::ops
