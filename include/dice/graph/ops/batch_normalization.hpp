#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/ops/detail/weights.hpp"

#include <string_view>

namespace dice::ops {

/// y = x · a[c] + b[c] per channel c (axis 1): inference form of ONNX BatchNormalization, with its four statistics combined
/// at conversion. Parameter 0: a (C); parameter 1: b (C).
struct batch_normalization {
  static constexpr std::string_view onnx = "BatchNormalization";
  static constexpr bool in_place = true;

  constexpr graph::fusion fuses(graph::shapes) const { return {.takes_activation = true}; }
  constexpr tensor::region parameter_region(int, const tensor::region& out, graph::shapes, const tensor::shape&,
                                            const tensor::shape& extents) const {
    return detail::outputs(out, 1, extents);
  }
};

}  // namespace dice::ops
