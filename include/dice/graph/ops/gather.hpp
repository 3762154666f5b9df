#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/ops/detail/weights.hpp"

#include <cstdint>
#include <string_view>

namespace dice::ops {

/// Elements of axis `axis` in any order: element i of the result is element parameter[i] of the input. The parameter has
/// `count` numbers, whole and 0 … extent - 1. ONNX Gather.
struct gather {
  static constexpr std::string_view onnx = "Gather";
  static constexpr std::int64_t most = std::int64_t{1} << 24;  ///< extent of the axis: float32 has every index below
  int axis = 0;
  std::int64_t count = 0;
  DICE_MEMBERS(axis, count)
  static constexpr const char* always_written = member_names;

  constexpr tensor::shape infer(graph::shapes in) const {
    tensor::shape out = in[0];
    graph::require(axis >= 0 && axis < out.rank, "the axis is not one of the input's");
    graph::require(count > 0, "there is no index");
    graph::require(out[axis] <= most, "the axis has more than 2^24 elements");
    out[axis] = count;
    return out;
  }
  /// All of the axis: the plan does not know the indices.
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = out;
    if (axis < tensor::region::axes) {
      r.begin[axis] = 0;
      r.end[axis] = in[0][axis];
    }
    return r;
  }
  constexpr std::int64_t cut_step(int cut, graph::shapes, const tensor::shape&) const { return graph::finest_step(cut); }
  constexpr gather restrict(const tensor::region& out, graph::shapes, const tensor::shape&) const {
    return {axis, axis < tensor::region::axes ? out.end[axis] - out.begin[axis] : count};
  }
  constexpr tensor::region parameter_region(int, const tensor::region& out, graph::shapes, const tensor::shape&,
                                            const tensor::shape& extents) const {
    return detail::outputs(out, axis, extents);
  }
};

}  // namespace dice::ops
