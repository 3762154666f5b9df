#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// y = x for x >= 0, else alpha (exp(x) - 1). ONNX Elu.
struct elu {
  static constexpr std::string_view onnx = "Elu";
  static constexpr bool in_place = true;
  float alpha = 1;

  constexpr graph::fusion fuses(graph::shapes) const {
    return {.function = {graph::activation::kind::elu, alpha}, .monotonic = alpha >= 0};
  }
};

}  // namespace dice::ops
