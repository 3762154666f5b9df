#pragma once

#include "dice/graph/operator.hpp"

#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace dice::ops {

/// The input repeats[a] times along axis a. ONNX Tile, and Expand after a Reshape.
struct tile {
  static constexpr std::string_view onnx = "Tile";
  std::array<std::int64_t, tensor::max_rank> repeats{1, 1, 1, 1, 1, 1, 1, 1};
  DICE_MEMBERS(repeats)

  constexpr tensor::shape infer(graph::shapes in) const {
    tensor::shape out = in[0];
    for (int a = 0; a < out.rank; ++a) {
      graph::require(repeats[a] > 0, "a number of repeats is not positive");
      out[a] *= repeats[a];
    }
    return out;
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = tensor::whole(in[0]);
    for (int a = 0; a < in[0].rank && a < tensor::region::axes; ++a)
      if (repeats[a] == 1) {
        r.begin[a] = out.begin[a];
        r.end[a] = out.end[a];
      }
    return r;
  }
  /// Whole repetitions.
  constexpr std::int64_t cut_step(int axis, graph::shapes in, const tensor::shape&) const {
    return repeats[axis] == 1 ? graph::finest_step(axis) : std::lcm(graph::finest_step(axis), in[0][axis]);
  }
  constexpr tile restrict(const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tile part = *this;
    for (int a = 0; a < in[0].rank && a < tensor::region::axes; ++a) {
      if (repeats[a] == 1) continue;
      graph::require(out.begin[a] % in[0][a] == 0 && out.end[a] % in[0][a] == 0, "a part must have whole repetitions");
      part.repeats[a] = (out.end[a] - out.begin[a]) / in[0][a];
    }
    return part;
  }
};

}  // namespace dice::ops
