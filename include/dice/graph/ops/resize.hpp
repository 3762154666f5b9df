#pragma once

#include "dice/graph/operator.hpp"
#include "dice/graph/sampling.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace dice::ops {

/// Changes extents: repeats each element `factors[a]` times along axis a (mode repeat), or interpolates for a result of
/// shape `to`. ONNX Resize, Upsample.
struct resize {
  static constexpr std::string_view onnx = "Resize";
  using floats = std::array<float, tensor::max_rank>;
  using integers = std::array<int, tensor::max_rank>;
  static constexpr int most_axes = 4;  ///< that can be interpolated at once

  std::array<std::int64_t, tensor::max_rank> factors{1, 1, 1, 1, 1, 1, 1, 1};
  resizing mode = resizing::repeat;
  tensor::shape to{};
  floats scales{1, 1, 1, 1, 1, 1, 1, 1};
  /// The model gives extents: the scales follow from them, exactly, and `scales` has them rounded. If the aspect ratio is
  /// kept, ratio_over / ratio_under is the scale of all axes that change; else ratio_over is 0.
  bool by_sizes = false;
  int ratio_over = 0, ratio_under = 1;
  coordinates from = coordinates::half_pixel;
  rounding nearest = rounding::round_prefer_floor;
  bool exclude_outside = false;
  float cubic_a = -0.75f;
  floats begin{}, end{1, 1, 1, 1, 1, 1, 1, 1};  ///< of tf_crop_and_resize, which takes these parts of each axis
  float extrapolation = 0;                      ///< what it writes beyond them
  /// Of a part: its first element in the whole output and input, and the extents of both; 0: it is the whole.
  integers first_out{}, first_in{}, whole_out{}, whole_in{};
  DICE_MEMBERS(factors, mode, to, scales, by_sizes, ratio_over, ratio_under, from, nearest, exclude_outside, cubic_a, begin,
               end, extrapolation, first_out, first_in, whole_out, whole_in)

  constexpr tensor::shape infer(graph::shapes in) const {
    tensor::shape out = in[0];
    if (mode != resizing::repeat) {
      graph::require(to.rank == out.rank, "the result has another number of axes");
      int interpolated = 0;
      for (int a = 0; a < out.rank; ++a) {
        graph::require(to[a] > 0 && to[a] < (1 << 24) && out[a] < (1 << 24), "an extent is out of range");
        graph::require(scales[a] > 0, "a scale is not positive");
        interpolated += mode != resizing::nearest && !samples_one(axis(a, out, to));
      }
      graph::require(interpolated <= most_axes, "it interpolates along more than four axes");
      return to;
    }
    for (int a = 0; a < out.rank; ++a) {
      graph::require(factors[a] > 0, "a factor is not positive");
      out[a] *= factors[a];
    }
    return out;
  }
  /// Axis a of an input and a result of these shapes; of a part, as the whole has it.
  constexpr sampled_axis axis(int a, const tensor::shape& in, const tensor::shape& result) const {
    const auto whole = [](int of_whole, std::int64_t own) { return of_whole > 0 ? of_whole : static_cast<int>(own); };
    const int of_in = whole(whole_in[a], in[a]), of_out = whole(whole_out[a], result[a]);
    const bool own = ratio_over == 0 || scales[a] == 1;
    return {.mode = mode,
            .from = from,
            .nearest = nearest,
            .exclude_outside = exclude_outside,
            .cubic_a = cubic_a,
            .scale = scales[a],
            .over = by_sizes ? (own ? of_out : ratio_over) : 0,
            .under = own ? of_in : ratio_under,
            .in = of_in,
            .out = of_out,
            .begin = begin[a],
            .end = end[a]};
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in,
                                        const tensor::shape& result) const {
    tensor::region r = tensor::whole(in[0]);
    for (int a = 0; a < in[0].rank && a < tensor::region::axes; ++a) {
      if (mode == resizing::repeat) {
        r.begin[a] = out.begin[a] / factors[a];
        r.end[a] = (out.end[a] + factors[a] - 1) / factors[a];
      } else if (out.begin[a] < out.end[a]) {
        const auto of = axis(a, in[0], result);
        r.begin[a] = of.in;
        r.end[a] = 0;
        for (auto k = out.begin[a]; k < out.end[a]; ++k) {
          const auto s = samples_of(of, first_out[a] + static_cast<int>(k));
          r.begin[a] = std::min<std::int64_t>(r.begin[a], s.at(0, of.in) - first_in[a]);
          r.end[a] = std::max<std::int64_t>(r.end[a], s.at(s.count - 1, of.in) + 1 - first_in[a]);
        }
      }
    }
    return r;
  }
  /// Whole repetitions.
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape&) const {
    return mode == resizing::repeat ? std::lcm(graph::finest_step(axis), factors[axis]) : graph::finest_step(axis);
  }
  constexpr resize restrict(const tensor::region& out, graph::shapes in, const tensor::shape& result) const {
    resize part = *this;
    const auto needed = input_region(0, out, in, result);
    for (int a = 0; a < in[0].rank && a < tensor::region::axes; ++a) {
      if (mode == resizing::repeat) {
        graph::require(out.begin[a] % factors[a] == 0 && out.end[a] % factors[a] == 0, "a part must have whole repetitions");
        continue;
      }
      const auto of = axis(a, in[0], result);
      part.to[a] = out.end[a] - out.begin[a];
      part.whole_in[a] = of.in;
      part.whole_out[a] = of.out;
      part.first_out[a] += static_cast<int>(out.begin[a]);
      part.first_in[a] += static_cast<int>(needed.begin[a]);
    }
    return part;
  }
};

}  // namespace dice::ops
