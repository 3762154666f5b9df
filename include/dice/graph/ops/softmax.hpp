#pragma once

#include "dice/graph/operator.hpp"

#include <cstdint>
#include <string_view>

namespace dice::ops {

/// exp(x) / Σ exp(x), summed over axes [first, last) (0 ≤ first < last ≤ rank), or its logarithm. ONNX Softmax, LogSoftmax:
/// last = first + 1 from opset 13 on, last = rank before.
struct softmax {
  int first = 1, last = 2;
  bool log = false;
  std::string_view onnx = log ? "LogSoftmax" : "Softmax";

  static constexpr bool is_named(std::string_view name) { return name == "Softmax" || name == "LogSoftmax"; }

  constexpr tensor::shape infer(graph::shapes in) const {
    graph::require(0 <= first && first <= last && last <= in[0].rank, "the axis is not one of the input's");
    return in[0];
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = out;
    for (int a = first; a < last && a < tensor::region::axes; ++a) r.begin[a] = 0, r.end[a] = in[0][a];
    return r;
  }
  /// Sums that lie side by side along axis `last` stay so if there is another axis behind it; kernels add the elements of a
  /// single sum in another order.
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape& result) const {
    const bool beside = axis == last && result.product(last + 1, result.rank) > 1;
    return axis < first || beside ? graph::finest_step(axis) : 0;
  }
};

}  // namespace dice::ops
