#pragma once

#include "dice/graph/operator.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace dice::ops {

/// Axis a of the output is axis perm[a] of the input. ONNX Transpose.
struct transpose {
  static constexpr std::string_view onnx = "Transpose";
  std::array<int, tensor::max_rank> perm{0, 1, 2, 3, 4, 5, 6, 7};
  DICE_MEMBERS(perm)
  static constexpr const char* always_written = member_names;

  constexpr tensor::shape infer(graph::shapes in) const {
    tensor::shape out = in[0];
    unsigned seen = 0;
    for (int a = 0; a < out.rank; ++a) {
      graph::require(perm[a] >= 0 && perm[a] < out.rank && !(seen >> perm[a] & 1), "perm is not a permutation of the axes");
      seen |= 1u << perm[a];
      out[a] = in[0][perm[a]];
    }
    return out;
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = tensor::whole(in[0]);
    for (int a = 0; a < in[0].rank && a < tensor::region::axes; ++a)
      if (perm[a] < tensor::region::axes) {
        r.begin[perm[a]] = out.begin[a];
        r.end[perm[a]] = out.end[a];
      }
    return r;
  }
  /// Moving only axes of extent 1 moves no element.
  constexpr std::int64_t view(graph::shapes in, const tensor::shape&) const {
    int last = -1;
    for (int a = 0; a < in[0].rank; ++a) {
      if (in[0][perm[a]] == 1) continue;
      if (perm[a] < last) return -1;
      last = perm[a];
    }
    return 0;
  }
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape&) const {
    return perm[axis] > 0 && perm[axis] < tensor::region::axes ? graph::finest_step(axis) : 0;
  }
};

}  // namespace dice::ops
