#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// y = tanh(x). ONNX Tanh.
struct tanh {
  static constexpr std::string_view onnx = "Tanh";
  static constexpr bool in_place = true;
  constexpr graph::fusion fuses(graph::shapes) const {
    return {.function = {graph::activation::kind::tanh}, .monotonic = true};
  }
};

}  // namespace dice::ops
