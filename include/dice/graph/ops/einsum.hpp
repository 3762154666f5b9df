#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/ops/detail/binary.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace dice::ops {

/// y = factor · Σ a b over an axis that both operands have, two inputs, or an input and a constant (parameter 0, shape
/// `fixed`). Axis o of the result is axis of[0][o] of a and of[1][o] of b, -1 where an operand has none; extents of 1 are
/// broadcast. ONNX Einsum of two operands, MatMul of two activations or by several matrices, and the products of Attention.
struct einsum {
  static constexpr std::string_view onnx = "Einsum";
  std::array<std::array<int, tensor::max_rank>, 2> of{};
  int rank = 0;                ///< of the result
  std::array<int, 2> depth{};  ///< the axis of a and of b that is summed; both -1: there is none
  float factor = 1;
  constant which = constant::none;
  tensor::shape fixed{};
  DICE_MEMBERS(of, rank, depth, factor, which, fixed)

  /// Shape of a (k = 0) and b (k = 1).
  constexpr const tensor::shape& operand(int k, graph::shapes in) const {
    if (which == constant::none) return in[k];
    return is_fixed(k) ? fixed : in[0];
  }
  constexpr bool is_fixed(int k) const { return which == (k == 0 ? constant::first : constant::second); }

  constexpr tensor::shape infer(graph::shapes in) const {
    tensor::shape out;
    for (int o = 0; o < rank; ++o) {
      std::int64_t extent = 1;
      for (int k = 0; k < 2; ++k) {
        const int axis = of[k][o];
        const auto& x = operand(k, in);
        graph::require(axis < x.rank, "an axis is not one of the input's");
        if (axis < 0 || x[axis] == 1) continue;
        graph::require(extent == 1 || extent == x[axis], "the inputs differ on an axis of the result");
        extent = x[axis];
      }
      out.push_back(extent);
    }
    const auto &a = operand(0, in), &b = operand(1, in);
    graph::require((depth[0] < 0) == (depth[1] < 0) && depth[0] < a.rank && depth[1] < b.rank,
                   "the axis of the sum is not one of both inputs");
    graph::require(depth[0] < 0 || a[depth[0]] == b[depth[1]], "the inputs differ on the axis of the sum");
    return out;
  }
  constexpr tensor::region input_region(int k, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    return operand_region(which == constant::first ? 1 : k, out, in[k]);
  }
  constexpr tensor::region parameter_region(int, const tensor::region& out, graph::shapes, const tensor::shape&,
                                            const tensor::shape& extents) const {
    return operand_region(which == constant::first ? 0 : 1, out, extents);
  }
  /// Each element is summed in the order of the axis, wherever it lies. Both operands must be cut.
  constexpr std::int64_t cut_step(int axis, graph::shapes in, const tensor::shape&) const {
    for (int k = 0; k < 2; ++k)
      if (const int a = of[k][axis]; a >= tensor::region::axes && operand(k, in)[a] != 1) return 0;
    return graph::finest_step(axis);
  }
  constexpr einsum restrict(const tensor::region& out, graph::shapes in, const tensor::shape& result) const {
    einsum part = *this;
    if (which != constant::none) part.fixed = tensor::extents(parameter_region(0, out, in, result, fixed), fixed);
    return part;
  }
  constexpr std::int64_t length(graph::shapes in) const { return depth[0] < 0 ? 1 : operand(0, in)[depth[0]]; }
  constexpr std::int64_t macs(graph::shapes in, const tensor::shape& result) const { return result.elements() * length(in); }
  constexpr graph::fusion fuses(graph::shapes) const { return {.takes_activation = true}; }
  /// Elements from one index of axis o of the result to the next in input k; 0 where it is broadcast.
  constexpr std::int64_t stride(int k, int o, graph::shapes in) const {
    const int a = of[k][o];
    const auto& x = operand(k, in);
    return a < 0 || x[a] == 1 ? 0 : x.product(a + 1, x.rank);
  }
  constexpr std::int64_t depth_stride(int k, graph::shapes in) const {
    const auto& x = operand(k, in);
    return depth[k] < 0 ? 0 : x.product(depth[k] + 1, x.rank);
  }

 private:
  /// The region of operand k, of shape `s`, that region `out` of the result needs.
  constexpr tensor::region operand_region(int k, const tensor::region& out, const tensor::shape& s) const {
    tensor::region r = tensor::whole(s);
    for (int o = 0; o < rank && o < tensor::region::axes; ++o)
      if (const int a = of[k][o]; a >= 0 && a < tensor::region::axes && s[a] != 1) {
        r.begin[a] = out.begin[o];
        r.end[a] = out.end[o];
      }
    return r;
  }
};

}  // namespace dice::ops
