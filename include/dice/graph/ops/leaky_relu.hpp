#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// y = x for x >= 0, else alpha x. ONNX LeakyRelu.
struct leaky_relu {
  static constexpr std::string_view onnx = "LeakyRelu";
  float alpha = 0.01f;
  DICE_MEMBERS(alpha)

  constexpr graph::activation activation() const { return {graph::activation::kind::leaky_relu, alpha}; }
  constexpr bool is_monotonic() const { return alpha >= 0; }
};

}  // namespace dice::ops
