#pragma once

#include "dice/graph/operator.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace dice::ops {

/// y = factor · Σ a b over an axis that both inputs have. Axis o of the result is axis of[0][o] of a and of[1][o] of b, -1
/// where an input has none; extents of 1 are broadcast. ONNX Einsum of two operands, MatMul of two activations, and the
/// products of Attention.
struct einsum {
  static constexpr std::string_view onnx = "Einsum";
  std::array<std::array<int, tensor::max_rank>, 2> of{};
  int rank = 0;                ///< of the result
  std::array<int, 2> depth{};  ///< the axis of a and of b that is summed; both -1: there is none
  float factor = 1;

  constexpr tensor::shape infer(graph::shapes in) const {
    tensor::shape out;
    for (int o = 0; o < rank; ++o) {
      std::int64_t extent = 1;
      for (int k = 0; k < 2; ++k) {
        const int axis = of[k][o];
        graph::require(axis < in[k].rank, "an axis is not one of the input's");
        if (axis < 0 || in[k][axis] == 1) continue;
        graph::require(extent == 1 || extent == in[k][axis], "the inputs differ on an axis of the result");
        extent = in[k][axis];
      }
      out.push_back(extent);
    }
    graph::require((depth[0] < 0) == (depth[1] < 0) && depth[0] < in[0].rank && depth[1] < in[1].rank,
                   "the axis of the sum is not one of both inputs");
    graph::require(depth[0] < 0 || in[0][depth[0]] == in[1][depth[1]], "the inputs differ on the axis of the sum");
    return out;
  }
  constexpr tensor::region input_region(int k, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = tensor::whole(in[k]);
    for (int o = 0; o < rank && o < tensor::region::axes; ++o)
      if (const int a = of[k][o]; a >= 0 && a < tensor::region::axes && in[k][a] != 1)
        r.begin[a] = out.begin[o], r.end[a] = out.end[o];
    return r;
  }
  /// Each element is summed in the order of the axis, wherever it lies.
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape&) const { return graph::finest_step(axis); }
  constexpr std::int64_t length(graph::shapes in) const { return depth[0] < 0 ? 1 : in[0][depth[0]]; }
  constexpr std::int64_t macs(graph::shapes in, const tensor::shape& result) const { return result.elements() * length(in); }
  constexpr graph::fusion fuses(graph::shapes) const { return {.takes_activation = true}; }
  /// Elements from one index of axis o of the result to the next in input k; 0 where it is broadcast.
  constexpr std::int64_t stride(int k, int o, graph::shapes in) const {
    const int a = of[k][o];
    return a < 0 || in[k][a] == 1 ? 0 : in[k].product(a + 1, in[k].rank);
  }
  constexpr std::int64_t depth_stride(int k, graph::shapes in) const {
    return depth[k] < 0 ? 0 : in[k].product(depth[k] + 1, in[k].rank);
  }
};

}  // namespace dice::ops
