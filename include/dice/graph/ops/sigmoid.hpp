#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// y = 1 / (1 + exp(-x)). ONNX Sigmoid.
struct sigmoid {
  static constexpr std::string_view onnx = "Sigmoid";
  constexpr graph::activation activation() const { return {graph::activation::kind::sigmoid}; }
  constexpr bool is_monotonic() const { return true; }
};

}  // namespace dice::ops
