#pragma once

#include "dice/graph/operator.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace dice::ops {

/// Inputs joined along `axis` (≥ 0). ONNX Concat.
struct concat {
  static constexpr std::string_view onnx = "Concat";
  int axis = 1;
  DICE_MEMBERS(axis)
  static constexpr const char* always_written = member_names;

  constexpr tensor::shape infer(graph::shapes in) const {
    tensor::shape out = in[0];
    graph::require(axis >= 0 && axis < out.rank, "the axis is not one of the input's");
    for (std::size_t k = 1; k < in.count; ++k) {
      const auto& s = in.first[k];
      graph::require(s.rank == out.rank, "the inputs differ in rank");
      bool alike = true;
      for (int a = 0; a < out.rank; ++a) alike = alike && (a == axis || s.dim[a] == out.dim[a]);
      graph::require(alike, "the inputs differ on another axis");
      out.dim[axis] += s.dim[axis];
    }
    return out;
  }
  /// First index of input k along `axis` in the output.
  constexpr std::int64_t start(int k, graph::shapes in) const {
    std::int64_t at = 0;
    for (int i = 0; i < k; ++i) at += in.first[i].dim[axis];
    return at;
  }
  constexpr tensor::region input_region(int k, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = out;
    if (axis < tensor::region::axes) {
      const auto at = start(k, in), extent = in[k][axis];
      r.begin[axis] = std::clamp<std::int64_t>(out.begin[axis] - at, 0, extent);
      r.end[axis] = std::clamp<std::int64_t>(out.end[axis] - at, r.begin[axis], extent);
    }
    return r;
  }
  constexpr std::int64_t joins(int k, graph::shapes in, const tensor::shape& result) const {
    return result.product(0, axis) == 1 ? start(k, in) * result.product(axis + 1, result.rank) : -1;
  }
  constexpr std::int64_t cut_step(int cut, graph::shapes, const tensor::shape&) const { return graph::finest_step(cut); }
};

}  // namespace dice::ops
