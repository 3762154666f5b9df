#pragma once

#include "dice/graph/operator.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace dice::ops {

/// What Pad writes outside the input.
enum class padding : std::uint8_t { constant, reflect, edge, wrap };

/// Input extended by `before[a]` and `after[a]` elements along axis a; negative amounts remove. ONNX Pad.
struct pad {
  static constexpr std::string_view onnx = "Pad";
  std::array<std::int64_t, tensor::max_rank> before{}, after{};
  padding mode = padding::constant;
  float value = 0;  ///< with padding::constant
  DICE_MEMBERS(before, after, mode, value)

  constexpr tensor::shape infer(graph::shapes in) const {
    tensor::shape out = in[0];
    for (int a = 0; a < out.rank; ++a) {
      graph::require(mode != padding::reflect || (before[a] < in[0][a] && after[a] < in[0][a]),
                     "reflected padding must be smaller than the axis");
      out[a] += before[a] + after[a];
      graph::require(out[a] > 0, "nothing is left of an axis");
    }
    return out;
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in,
                                        const tensor::shape& result) const {
    tensor::region r = tensor::whole(in[0]);
    for (int a = 0; a < result.rank && a < tensor::region::axes; ++a) {
      if (mode != padding::constant && (before[a] != 0 || after[a] != 0)) continue;
      // A region outside the input gets its nearest element, though it does not need it: no part has an empty input.
      r.begin[a] = std::clamp<std::int64_t>(out.begin[a] - before[a], 0, in[0][a] - 1);
      r.end[a] = std::clamp<std::int64_t>(out.end[a] - before[a], r.begin[a] + 1, in[0][a]);
    }
    return r;
  }
  /// A constant can surround any part; other modes need the whole axis for their padding.
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape&) const {
    return mode == padding::constant || (before[axis] == 0 && after[axis] == 0) ? graph::finest_step(axis) : 0;
  }
  constexpr pad restrict(const tensor::region& out, graph::shapes in, const tensor::shape& result) const {
    const auto needs = input_region(0, out, in, result);
    pad part = *this;
    if (mode == padding::constant)
      for (int a = 0; a < result.rank && a < tensor::region::axes; ++a) {
        part.before[a] = needs.begin[a] - (out.begin[a] - before[a]);
        part.after[a] = out.end[a] - before[a] - needs.end[a];
      }
    return part;
  }
};

}  // namespace dice::ops
