#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// y = tanh(x). ONNX Tanh.
struct tanh {
  static constexpr std::string_view onnx = "Tanh";
  constexpr graph::activation activation() const { return {graph::activation::kind::tanh}; }
  constexpr bool is_monotonic() const { return true; }
};

}  // namespace dice::ops
