#pragma once

#include "dice/graph/operator.hpp"

#include <cstdint>
#include <string_view>

namespace dice::ops {

/// y[k] = x[0] + … + x[k] along an axis. `exclusive`: without x[k]. `reverse`: from the last element. ONNX CumSum.
struct cum_sum {
  static constexpr std::string_view onnx = "CumSum";
  int axis = 0;
  bool exclusive = false, reverse = false;
  DICE_MEMBERS(axis, exclusive, reverse)
  static constexpr const char* always_written = "axis";

  constexpr tensor::shape infer(graph::shapes in) const {
    graph::require(axis >= 0 && axis < in[0].rank, "the axis is not one of the input's");
    return in[0];
  }
  constexpr std::int64_t cut_step(int cut, graph::shapes, const tensor::shape&) const {
    return cut == axis ? 0 : graph::finest_step(cut);
  }
};

}  // namespace dice::ops
