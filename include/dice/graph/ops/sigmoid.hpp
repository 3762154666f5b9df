#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// y = 1 / (1 + exp(-x)). ONNX Sigmoid.
struct sigmoid {
  static constexpr std::string_view onnx = "Sigmoid";
  static constexpr bool in_place = true;
  constexpr graph::fusion fuses(graph::shapes) const {
    return {.function = {graph::activation::kind::sigmoid}, .monotonic = true};
  }
};

}  // namespace dice::ops
