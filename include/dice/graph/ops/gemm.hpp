#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/ops/detail/weights.hpp"

#include <cstdint>
#include <string_view>

namespace dice::ops {

/// y = x Wᵀ + b for x of shape (rows, k). Parameter 0: W (columns, k), transposed and scaled at conversion; parameter 1, if
/// `bias`: (columns). ONNX Gemm with constant B and C.
struct gemm {
  static constexpr std::string_view onnx = "Gemm";
  std::int64_t columns = 0, depth = 0;
  bool bias = false;
  DICE_MEMBERS(columns, depth, bias)
  static constexpr const char* always_written = member_names;

  constexpr tensor::shape infer(graph::shapes in) const {
    graph::require(in[0].rank == 2 && in[0][1] == depth, "expected an input of shape (rows, k) with the k of the weights");
    return {in[0][0], columns};
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = tensor::whole(in[0]);
    r.begin[0] = out.begin[0];
    r.end[0] = out.end[0];
    return r;
  }
  constexpr std::int64_t macs(graph::shapes, const tensor::shape& result) const { return result.elements() * depth; }
  constexpr graph::fusion fuses(graph::shapes) const { return {.takes_residual = true, .takes_activation = true}; }
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape&) const { return graph::finest_step(axis); }
  constexpr gemm restrict(const tensor::region& out, graph::shapes, const tensor::shape&) const {
    gemm part = *this;
    part.columns = out.end[1] - out.begin[1];
    return part;
  }
  constexpr tensor::region parameter_region(int, const tensor::region& out, graph::shapes, const tensor::shape&,
                                            const tensor::shape& extents) const {
    return detail::outputs(out, 1, extents);
  }
  constexpr int depth_axis(graph::shapes) const { return 1; }
  constexpr gemm partial(std::int64_t from, std::int64_t to, bool first) const {
    return {columns, to - from, bias && first};
  }
};

}  // namespace dice::ops
