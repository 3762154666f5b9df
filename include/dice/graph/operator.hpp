// The core's interface to operators. An operator is a literal struct of attributes in ops/<op>.hpp with a constant `onnx`
// (its ONNX name; operators of several kinds have one for each, and `is_named`), the list DICE_MEMBERS of its attributes,
// and any of the members below; those that it omits default to an elementwise function of input 0. Generated headers have
// the attributes that differ from their defaults; `always_written` lists those that they have in any case.
#pragma once

#include "dice/graph/error.hpp"
#include "dice/graph/fusion.hpp"
#include "dice/meta/members.hpp"
#include "dice/meta/view.hpp"
#include "dice/tensor/tensor.hpp"

#include <concepts>
#include <cstdint>

namespace dice::graph {

using shapes = meta::view<tensor::shape>;

/// An operator that is one function of each element: `activation()` is this function, and `is_monotonic()` whether it never
/// decreases (default: no). All else follows from these, so it has no other members of this header.
template <class Op>
concept activation_operator = requires(const Op& op) {
  { op.activation() } -> std::same_as<activation>;
};

/// An operator whose result has the input's elements in their order, perhaps in another shape: `is_copy` is true.
template <class Op>
concept copy_operator = requires {
  requires Op::is_copy;
};

/// Shape of the output for inputs of shapes `in`. Throws model_error.
template <class Op> constexpr tensor::shape infer(const Op& op, shapes in) {
  if constexpr (requires { op.infer(in); }) {
    static_assert(!activation_operator<Op>, "an operator with a shape rule is not a function of each element");
    return op.infer(in);
  } else return in[0];
}

/// The region of input `k` from which region `out` of the output (shape `result`) is computed.
template <class Op>
constexpr tensor::region input_region(const Op& op, int k, const tensor::region& out, shapes in,
                                      const tensor::shape& result) {
  if constexpr (requires { op.input_region(k, out, in, result); }) {
    static_assert(!activation_operator<Op>, "an operator with a region rule is not a function of each element");
    return op.input_region(k, out, in, result);
  } else return out;
}

/// The finest possible step of a cut along `axis`: whole blocks of channels; single rows and columns.
constexpr std::int64_t finest_step(int axis) { return axis == 1 ? tensor::block : 1; }

/// Parts of the output may begin on `axis` (0 … 3) at multiples of this; 0: the operator cannot be cut on this axis. Images
/// (axis 0) stay together.
template <class Op> constexpr std::int64_t cut_step(const Op& op, int axis, shapes in, const tensor::shape& result) {
  if (axis < 1 || axis >= tensor::region::axes || axis >= result.rank) return 0;
  if constexpr (requires { op.cut_step(axis, in, result); }) return op.cut_step(axis, in, result);
  else if constexpr (
      requires { op.infer(in); } || requires(tensor::region r) { op.input_region(0, r, in, result); })
    return 0;
  else return finest_step(axis);
}

/// The operator that computes region `out` of the result, a part that cut_step() allows, from the input_region() of each
/// input, which it has as its whole inputs. Its result has the shape of `out`, and every element the same bits as in the
/// whole result if both are computed by the same algorithm. Throws model_error for parts that it cannot compute.
template <class Op> constexpr Op restrict(const Op& op, const tensor::region& out, shapes in, const tensor::shape& result) {
  if constexpr (requires { op.restrict(out, in, result); }) return op.restrict(out, in, result);
  else return op;
}

/// The region of parameter `p` (shape `extents`) that the operator restricted to `out` has as its parameter p.
template <class Op>
constexpr tensor::region parameter_region(const Op& op, int p, const tensor::region& out, shapes in,
                                          const tensor::shape& result, const tensor::shape& extents) {
  if constexpr (requires { op.parameter_region(p, out, in, result, extents); })
    return op.parameter_region(p, out, in, result, extents);
  else return tensor::whole(extents);
}

/// The axis of input 0 along which the operator sums products with its weights (axis 1 of parameter 0), if it can be divided
/// into partial sums over intervals of this axis; else -1.
template <class Op> constexpr int depth_axis(const Op& op, shapes in) {
  if constexpr (requires { op.depth_axis(in); }) return op.depth_axis(in);
  else return -1;
}

/// Partial sums may begin at multiples of this; 0: there are none.
template <class Op> constexpr std::int64_t depth_step(const Op& op, shapes in) {
  return depth_axis(op, in) < 0 ? 0 : tensor::block;
}

/// The operator that sums only input channels [from, to), which it has as its whole input (partial_region). The sum of the
/// results for all intervals of the depth axis is the operator's own result, but for rounding; the bias belongs to `first`,
/// the others have one parameter. Throws model_error if the operator has no partial sums.
template <class Op> constexpr Op partial(const Op& op, std::int64_t from, std::int64_t to, bool first, shapes in) {
  require(depth_axis(op, in) >= 0, "the operator has no partial sums");
  if constexpr (requires { op.partial(from, to, first); }) return op.partial(from, to, first);
  else return op;
}

/// The region of input 0 that a partial sum needs for the whole result.
template <class Op> constexpr tensor::region partial_region(const Op& op, std::int64_t from, std::int64_t to, shapes in) {
  tensor::region r = tensor::whole(in[0]);
  if (const int axis = depth_axis(op, in); axis >= 0) {
    r.begin[axis] = from;
    r.end[axis] = to;
  }
  return r;
}

/// The region of parameter `p` (shape `extents`) that a partial sum has as its parameter p.
template <class Op>
constexpr tensor::region partial_parameter_region(const Op& op, int p, std::int64_t from, std::int64_t to, shapes in,
                                                  const tensor::shape& extents) {
  tensor::region r = tensor::whole(extents);
  if (p == 0 && depth_axis(op, in) >= 0) {
    r.begin[1] = from;
    r.end[1] = to;
  }
  return r;
}

/// Multiply-accumulate operations of one frame.
template <class Op> constexpr std::int64_t macs(const Op& op, shapes in, const tensor::shape& result) {
  if constexpr (requires { op.macs(in, result); }) return op.macs(in, result);
  else return 0;
}

/// What the operator can absorb, and whether it can be absorbed.
template <class Op> constexpr fusion fuses(const Op& op, shapes in) {
  if constexpr (activation_operator<Op>) {
    constexpr bool says_more = requires { op.fuses(in); };
    static_assert(!says_more, "what a function of each element fuses follows from the function");
    fusion out{.function = op.activation()};
    if constexpr (requires { op.is_monotonic(); }) out.monotonic = op.is_monotonic();
    return out;
  } else if constexpr (requires { op.fuses(in); }) return op.fuses(in);
  else return {};
}

/// Offset in elements of the output within input 0 if the output is a view of it; else -1.
template <class Op> constexpr std::int64_t view(const Op& op, shapes in, const tensor::shape& result) {
  if constexpr (copy_operator<Op>) {
    constexpr bool says_more = requires { op.view(in, result); };
    static_assert(!says_more, "a copy is a view of its whole input");
    return 0;
  } else if constexpr (requires { op.view(in, result); }) return op.view(in, result);
  else return -1;
}

/// Offset in elements at which input `k` lies as one piece within the output, or -1. If all inputs of an operator do (Concat
/// over the outermost axis that is not 1), it costs nothing when they are computed in place.
template <class Op> constexpr std::int64_t joins(const Op& op, int k, shapes in, const tensor::shape& result) {
  if constexpr (requires { op.joins(k, in, result); }) return op.joins(k, in, result);
  else return -1;
}

/// Whether the output may overwrite input 0: each element depends only on the input element at the same position.
template <class Op> constexpr bool in_place(const Op& op) {
  if constexpr (requires { op.in_place; }) return op.in_place;
  else return activation_operator<Op>;
}

}  // namespace dice::graph
