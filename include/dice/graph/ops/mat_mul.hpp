#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/ops/detail/weights.hpp"

#include <cstdint>
#include <string_view>

namespace dice::ops {

/// y = x Wᵀ + b over the last axis of x, shape (…, k). Parameter 0: W (columns, k), transposed at conversion; parameter 1,
/// if `bias`: (columns). ONNX MatMul by a constant matrix, with an Add of constants that follows it, and Gemm of several
/// rows.
struct mat_mul {
  static constexpr std::string_view onnx = "MatMul";
  std::int64_t columns = 0, depth = 0;
  bool bias = false;
  DICE_MEMBERS(columns, depth, bias)
  static constexpr const char* always_written = member_names;

  constexpr tensor::shape infer(graph::shapes in) const {
    tensor::shape out = in[0];
    graph::require(out.rank >= 1 && out[out.rank - 1] == depth, "the last axis of the input is not the k of the weights");
    out[out.rank - 1] = columns;
    return out;
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = out;
    const int last = in[0].rank - 1;
    if (last < tensor::region::axes) {
      r.begin[last] = 0;
      r.end[last] = depth;
    }
    return r;
  }
  constexpr std::int64_t macs(graph::shapes, const tensor::shape& result) const { return result.elements() * depth; }
  constexpr graph::fusion fuses(graph::shapes) const { return {.takes_residual = true, .takes_activation = true}; }
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape& result) const {
    return axis == result.rank - 1 ? tensor::block : 1;
  }
  constexpr mat_mul restrict(const tensor::region& out, graph::shapes, const tensor::shape& result) const {
    mat_mul part = *this;
    if (const int last = result.rank - 1; last < tensor::region::axes) part.columns = out.end[last] - out.begin[last];
    return part;
  }
  constexpr tensor::region parameter_region(int, const tensor::region& out, graph::shapes, const tensor::shape& result,
                                            const tensor::shape& extents) const {
    return detail::outputs(out, result.rank - 1, extents);
  }
  constexpr int depth_axis(graph::shapes in) const {
    const int last = in[0].rank - 1;
    return last > 0 && last < tensor::region::axes ? last : -1;
  }
  constexpr mat_mul partial(std::int64_t from, std::int64_t to, bool first) const {
    return {columns, to - from, bias && first};
  }
};

}  // namespace dice::ops
