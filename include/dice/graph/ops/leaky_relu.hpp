#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// y = x for x >= 0, else alpha x. ONNX LeakyRelu.
struct leaky_relu {
  static constexpr std::string_view onnx = "LeakyRelu";
  static constexpr bool in_place = true;
  float alpha = 0.01f;

  constexpr graph::fusion fuses(graph::shapes) const {
    return {.function = {graph::activation::kind::leaky_relu, alpha}, .monotonic = alpha >= 0};
  }
};

}  // namespace dice::ops
