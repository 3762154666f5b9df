#pragma once

#include "dice/graph/operator.hpp"

#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace dice::ops {

/// Pixels from channels: for each of `groups` parts of the channels, factors[0] · factors[1] blocks of channels become the
/// rows and columns of blocks of pixels. Then only to[0] × to[1] pixels from crop[0], crop[1] on remain. A sequence has
/// columns only. ONNX DepthToSpace (DCR: one group; CRD: as many as the result has channels), and ConvTranspose after a Conv
/// that computes the pixels of a block as channels (Shi et al. 2016, section 2.2).
struct depth_to_space {
  static constexpr std::string_view onnx = "DepthToSpace";
  std::array<std::int64_t, 2> factors{1, 1}, crop{}, to{};
  std::int64_t groups = 1;
  DICE_MEMBERS(factors, crop, to, groups)
  static constexpr const char* always_written = "to";

  /// The pixel axes are 2 and 3 of images; of sequences the columns are axis 2.
  static constexpr int pixel_axis(int k, const tensor::shape& s) { return s.rank - 2 + k; }
  constexpr std::int64_t factor(int k, const tensor::shape& s) const { return s.rank == 3 && k == 0 ? 1 : factors[k]; }
  /// Channels of each group of the result.
  constexpr std::int64_t group_channels(const tensor::shape& in) const {
    return in[1] / (groups * factor(0, in) * factor(1, in));
  }
  constexpr tensor::shape infer(graph::shapes in) const {
    tensor::shape out = in[0];
    graph::require(out.rank == 3 || out.rank == 4, "the input is neither a sequence nor an image");
    graph::require(factors[0] > 0 && factors[1] > 0 && groups > 0 && group_channels(in[0]) > 0 &&
                       in[0][1] % (groups * factor(0, in[0]) * factor(1, in[0])) == 0,
                   "the channels are not whole blocks");
    out[1] = groups * group_channels(in[0]);
    for (int k = out.rank == 3 ? 1 : 0; k < 2; ++k) {
      const int a = pixel_axis(k, out);
      graph::require(crop[k] >= 0 && to[k] > 0 && crop[k] + to[k] <= in[0][a] * factors[k], "more than all pixels remain");
      out[a] = to[k];
    }
    return out;
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = out;
    const auto block = factor(0, in[0]) * factor(1, in[0]), channels = group_channels(in[0]);
    r.begin[1] = out.begin[1] / channels * channels * block;
    r.end[1] = (out.end[1] + channels - 1) / channels * channels * block;
    for (int k = in[0].rank == 3 ? 1 : 0; k < 2; ++k) {
      const int a = pixel_axis(k, in[0]);
      r.begin[a] = (out.begin[a] + crop[k]) / factors[k];
      r.end[a] = out.end[a] > out.begin[a] ? (out.end[a] + crop[k] - 1) / factors[k] + 1 : r.begin[a];
    }
    return r;
  }
  /// Whole groups.
  constexpr std::int64_t cut_step(int axis, graph::shapes in, const tensor::shape&) const {
    return axis == 1 ? std::lcm(graph::finest_step(1), group_channels(in[0])) : graph::finest_step(axis);
  }
  constexpr depth_to_space restrict(const tensor::region& out, graph::shapes in, const tensor::shape& result) const {
    depth_to_space part = *this;
    const auto needs = input_region(0, out, in, result);
    const auto channels = group_channels(in[0]);
    graph::require(out.begin[1] % channels == 0 && out.end[1] % channels == 0, "a part must have whole groups");
    part.groups = (out.end[1] - out.begin[1]) / channels;
    for (int k = in[0].rank == 3 ? 1 : 0; k < 2; ++k) {
      const int a = pixel_axis(k, in[0]);
      part.to[k] = out.end[a] - out.begin[a];
      part.crop[k] = out.begin[a] + crop[k] - needs.begin[a] * factors[k];
    }
    return part;
  }
};

}  // namespace dice::ops
