#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/ops/detail/joined_axes.hpp"

#include <cstdint>
#include <string_view>

namespace dice::ops {

/// exp(x) / Σ exp(x), summed over axes [first, last) (0 ≤ first < last ≤ rank), or its logarithm. ONNX Softmax, LogSoftmax:
/// last = first + 1 from opset 13 on, last = rank before.
struct softmax {
  int first = 1, last = 2;
  bool log = false;
  std::string_view onnx = log ? "LogSoftmax" : "Softmax";
  DICE_MEMBERS(first, last, log)
  static constexpr const char* always_written = "first, last";

  static constexpr bool is_named(std::string_view name) { return name == "Softmax" || name == "LogSoftmax"; }

  constexpr tensor::shape infer(graph::shapes in) const {
    graph::require(0 <= first && first < last && last <= in[0].rank, "the axis is not one of the input's");
    return in[0];
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    return detail::joined_region(out, first, last, in[0]);
  }
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape& result) const {
    return detail::joined_cut_step(axis, first, last, result);
  }
};

}  // namespace dice::ops
