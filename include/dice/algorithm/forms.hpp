// The layouts in which the OpenMP kernels work, except for convolutions, whose form depends on their algorithm
// (algorithm/openmp.hpp).
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/graph.hpp"

#include <concepts>
#include <cstdint>

namespace dice::algorithm {

/// Plain where no overload says otherwise; elementwise functions work in any layout.
template <class Op> constexpr form form_of(const Op& op, graph::shapes in, const tensor::shape&) {
  return graph::fuses(op, in).function ? form::either : form::plain;
}
constexpr form form_of(const ops::identity&, graph::shapes, const tensor::shape&) { return form::either; }
constexpr form form_of(const ops::dropout&, graph::shapes, const tensor::shape&) { return form::either; }
constexpr form form_of(const ops::batch_normalization&, graph::shapes, const tensor::shape&) { return form::either; }

/// Whether an operand of shape `s` is broadcast to `result` by whole blocks: one element, one for each channel (and image),
/// or all of them.
constexpr bool broadcasts_blocks(const tensor::shape& s, const tensor::shape& result) {
  if (s.elements() == 1 || s == result) return true;
  return s.rank == result.rank && s[1] == result[1] && (s[0] == 1 || s[0] == result[0]) && s.product(2, s.rank) == 1;
}
/// The same for a constant, which is plain: one element, or one for each channel.
constexpr bool broadcasts_channels(const tensor::shape& s, const tensor::shape& result) {
  const int axis = s.rank - (result.rank - 1);  // that of the channels
  return s.elements() == 1 || (axis >= 0 && s[axis] == result[1] && s.elements() == result[1]);
}
constexpr form form_of(const ops::sum&, graph::shapes in, const tensor::shape& result) {
  for (const auto& s : in)
    if (!broadcasts_blocks(s, result)) return form::plain;
  return form::either;
}
/// Binary operators.
template <class Op>
requires requires(const Op& op) {
  { op.which } -> std::convertible_to<ops::constant>;
}
constexpr form form_of(const Op& op, graph::shapes in, const tensor::shape& result) {
  if (op.which != ops::constant::none && !broadcasts_channels(op.fixed, result)) return form::plain;
  return form_of(ops::sum{}, in, result);
}

/// Whole blocks of channels.
constexpr form form_of(const ops::depth_to_space& op, graph::shapes in, const tensor::shape&) {
  return op.group_channels(in[0]) % tensor::block == 0 ? form::either : form::plain;
}

/// Inputs that begin at whole blocks; pixels and images of any extents.
constexpr form form_of(const ops::concat& op, graph::shapes in, const tensor::shape&) {
  if (op.axis == 1)
    for (std::size_t k = 1; k < in.size(); ++k)
      if (in[k - 1][1] % tensor::block != 0) return form::plain;
  return form::either;
}
/// Adjacent channels from the first of a block on; any pixels and images.
constexpr form form_of(const ops::slice& op, graph::shapes, const tensor::shape& result) {
  return op.starts[1] % tensor::block == 0 && (op.steps[1] == 1 || result[1] == 1) ? form::either : form::plain;
}
/// Along other axes than that of the channels.
template <class Op>
requires std::same_as<Op, ops::gather> || std::same_as<Op, ops::cum_sum>
constexpr form form_of(const Op& op, graph::shapes, const tensor::shape&) {
  return op.axis == 1 ? form::plain : form::either;
}
constexpr form form_of(const ops::resize& op, graph::shapes in, const tensor::shape& result) {
  if (op.mode == ops::resizing::repeat) return op.factors[1] == 1 ? form::either : form::plain;
  return in[0].rank > 1 && in[0][1] == result[1] && op.scales[1] == 1 && op.from != ops::coordinates::tf_crop_and_resize
             ? form::either
             : form::plain;
}

/// Over the channels of each pixel, if they fill their blocks, with a scale and a bias for each channel.
constexpr form form_of(const ops::normalization& op, graph::shapes in, const tensor::shape& result) {
  const bool channels = tensor::has_blocks(in[0]) && in[0][1] % tensor::block == 0 && op.first == 1 && op.last == 2;
  const bool fits =
      (!op.scale || broadcasts_channels(op.scale_shape, result)) && (!op.bias || broadcasts_channels(op.bias_shape, result));
  return channels && fits ? form::blocked : form::plain;
}

constexpr form form_of(const ops::max_pool&, graph::shapes, const tensor::shape&) { return form::blocked; }
constexpr form form_of(const ops::average_pool&, graph::shapes, const tensor::shape&) { return form::blocked; }

/// Over all pixels of a blocked tensor; a result that has no blocks (keep = false) must be the same in both layouts.
constexpr form form_of(const ops::reduce& op, graph::shapes in, const tensor::shape&) {
  bool pixels = !op.finds_index() && tensor::has_blocks(in[0]) && (op.keep || in[0][1] % tensor::block == 0);
  for (int a = 0; a < in[0].rank; ++a) pixels = pixels && op.over[a] == (a >= 2);
  return pixels ? form::blocked : form::plain;
}
constexpr form form_of(const ops::global_average_pool&, graph::shapes in, const tensor::shape&) {
  return tensor::has_blocks(in[0]) ? form::blocked : form::plain;
}

}  // namespace dice::algorithm
