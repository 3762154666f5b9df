#pragma once

#include "dice/graph/antialias.hpp"
#include "dice/graph/operator.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace dice::ops {

/// Interpolates along one axis for a result with the extent `to`; where that is smaller, with a wider filter, so that all
/// elements count. ONNX Resize with antialias, one layer for each axis.
struct antialiased_resize {
  static constexpr std::string_view onnx = "AntialiasedResize";

  int axis = 0;
  std::int64_t to = 0;
  resizing mode = resizing::linear;
  float scale = 1;
  coordinates from = coordinates::half_pixel;
  bool exclude_outside = false;
  float cubic_a = -0.75f;
  /// Of a part: its first element in the whole output and input, and the extents of both; 0: it is the whole.
  int first_out = 0, first_in = 0, whole_out = 0, whole_in = 0;
  DICE_MEMBERS(axis, to, mode, scale, from, exclude_outside, cubic_a, first_out, first_in, whole_out, whole_in)
  static constexpr const char* always_written = "axis, to";

  constexpr tensor::shape infer(graph::shapes in) const {
    tensor::shape out = in[0];
    graph::require(axis >= 0 && axis < out.rank, "the axis does not exist");
    graph::require(mode == resizing::linear || mode == resizing::cubic, "only linear and cubic are antialiased");
    graph::require(from != coordinates::tf_crop_and_resize, "parts of an axis are not antialiased");
    constexpr int most = 1 << 22;  // beyond, positions in float32 are off by an element
    graph::require(scale * static_cast<float>(most) >= 1 && to > 0 && to <= most && out[axis] <= most,
                   "an extent or scale is out of range");
    out[axis] = to;
    return out;
  }
  /// The axis of an input and a result of these extents; of a part, as the whole has it.
  constexpr sampled_axis sampled(std::int64_t in, std::int64_t out) const {
    return {.mode = mode,
            .from = from,
            .exclude_outside = exclude_outside,
            .cubic_a = cubic_a,
            .scale = scale,
            .in = whole_in > 0 ? whole_in : static_cast<int>(in),
            .out = whole_out > 0 ? whole_out : static_cast<int>(out)};
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in,
                                        const tensor::shape& result) const {
    tensor::region r = tensor::whole(in[0]);
    for (int a = 0; a < in[0].rank && a < tensor::region::axes; ++a) {
      r.begin[a] = out.begin[a];
      r.end[a] = out.end[a];
    }
    if (axis >= tensor::region::axes || out.begin[axis] >= out.end[axis]) return r;
    const auto of = sampled(in[0][axis], result[axis]);
    r.begin[axis] = of.in;
    r.end[axis] = 0;
    for (auto k = out.begin[axis]; k < out.end[axis]; ++k) {
      const auto s = filtered_of(of, first_out + static_cast<int>(k));
      r.begin[axis] = std::min<std::int64_t>(r.begin[axis], s.at(0, of.in) - first_in);
      r.end[axis] = std::max<std::int64_t>(r.end[axis], s.at(s.count - 1, of.in) + 1 - first_in);
    }
    return r;
  }
  constexpr std::int64_t cut_step(int cut, graph::shapes, const tensor::shape&) const { return graph::finest_step(cut); }
  constexpr antialiased_resize restrict(const tensor::region& out, graph::shapes in, const tensor::shape& result) const {
    antialiased_resize part = *this;
    if (axis >= tensor::region::axes) return part;
    const auto of = sampled(in[0][axis], result[axis]);
    part.to = out.end[axis] - out.begin[axis];
    part.whole_in = of.in;
    part.whole_out = of.out;
    part.first_out += static_cast<int>(out.begin[axis]);
    part.first_in += static_cast<int>(input_region(0, out, in, result).begin[axis]);
    return part;
  }
  /// The most elements that one element of the result reads, and some that it may read because of rounding.
  constexpr std::int64_t taps(std::int64_t in, std::int64_t out) const {
    return static_cast<std::int64_t>(2 * reach_of(sampled(in, out))) + 4;
  }
  constexpr std::int64_t macs(graph::shapes in, const tensor::shape& result) const {
    return result.elements() * taps(in[0][axis], result[axis]);
  }
};

}  // namespace dice::ops
