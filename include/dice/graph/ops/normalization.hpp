#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/ops/detail/broadcast.hpp"
#include "dice/graph/ops/detail/joined_axes.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dice::ops {

/// What elements are divided by: the standard deviation after the mean is subtracted (layer, instance, group), the root of
/// the mean square (rms), the sum of magnitudes (l1), or the root of the sum of squares (l2).
enum class normalizing : std::uint8_t { layer, instance, group, rms, l1, l2 };

inline constexpr std::string_view normalization_names[] = {"LayerNormalization", "InstanceNormalization",
                                                           "GroupNormalization", "RMSNormalization",
                                                           "LpNormalization",    "LpNormalization"};

/// y = x / d · scale + bias, or (x - mean) / d · scale + bias, where the elements of axes [first, last) have a mean and a d
/// together; scale and bias (parameters 0 and 1, both optional, of the shapes `scale_shape` and `bias_shape`) are broadcast
/// to x. `epsilon` is added to the variance or the mean square. ONNX LayerNormalization, InstanceNormalization,
/// GroupNormalization (of an input whose groups are an axis), RMSNormalization, LpNormalization (0 where d is 0).
struct normalization {
  normalizing how = normalizing::layer;
  int first = 1, last = 2;
  float epsilon = 1e-5f;
  bool scale = false, bias = false;  ///< whether there is one
  tensor::shape scale_shape{}, bias_shape{};
  std::string_view onnx = normalization_names[static_cast<std::size_t>(how)];
  DICE_MEMBERS(how, first, last, epsilon, scale, bias, scale_shape, bias_shape)
  static constexpr const char* always_written = "how, first, last";

  static constexpr bool is_named(std::string_view name) {
    for (const auto known : normalization_names)
      if (known == name) return true;
    return false;
  }
  constexpr bool centres() const { return how <= normalizing::group; }
  constexpr tensor::shape infer(graph::shapes in) const {
    graph::require(0 <= first && first < last && last <= in[0].rank, "the axes are not the input's");
    graph::require((!scale || detail::broadcast(in[0], scale_shape) == in[0]) &&
                       (!bias || detail::broadcast(in[0], bias_shape) == in[0]),
                   "the scale or the bias does not fit the input");
    return in[0];
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    return detail::joined_region(out, first, last, in[0]);
  }
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape& result) const {
    return detail::joined_cut_step(axis, first, last, result);
  }
  constexpr normalization restrict(const tensor::region& out, graph::shapes, const tensor::shape& result) const {
    normalization part = *this;
    if (scale) part.scale_shape = tensor::extents(detail::input_region(out, scale_shape, result), scale_shape);
    if (bias) part.bias_shape = tensor::extents(detail::input_region(out, bias_shape, result), bias_shape);
    return part;
  }
  constexpr tensor::region parameter_region(int, const tensor::region& out, graph::shapes, const tensor::shape& result,
                                            const tensor::shape& extents) const {
    return detail::input_region(out, extents, result);
  }
  constexpr graph::fusion fuses(graph::shapes) const { return {.takes_activation = true}; }
};

}  // namespace dice::ops
