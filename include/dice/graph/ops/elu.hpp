#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// y = x for x >= 0, else alpha (exp(x) - 1). ONNX Elu.
struct elu {
  static constexpr std::string_view onnx = "Elu";
  float alpha = 1;
  DICE_MEMBERS(alpha)

  constexpr graph::activation activation() const { return {graph::activation::kind::elu, alpha}; }
  constexpr bool is_monotonic() const { return alpha >= 0; }
};

}  // namespace dice::ops
