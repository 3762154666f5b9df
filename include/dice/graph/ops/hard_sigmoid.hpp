#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// y = max(0, min(1, alpha x + beta)). ONNX HardSigmoid.
struct hard_sigmoid {
  static constexpr std::string_view onnx = "HardSigmoid";
  float alpha = 0.2f, beta = 0.5f;
  DICE_MEMBERS(alpha, beta)

  constexpr graph::activation activation() const { return {graph::activation::kind::hard_sigmoid, alpha, beta}; }
  constexpr bool is_monotonic() const { return alpha >= 0; }
};

}  // namespace dice::ops
