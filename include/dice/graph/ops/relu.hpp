#pragma once

#include "dice/graph/operator.hpp"

#include <string_view>

namespace dice::ops {

/// y = max(x, 0). ONNX Relu.
struct relu {
  static constexpr std::string_view onnx = "Relu";
  static constexpr bool in_place = true;
  constexpr graph::fusion fuses(graph::shapes) const {
    return {.function = {graph::activation::kind::relu}, .monotonic = true};
  }
};

}  // namespace dice::ops
