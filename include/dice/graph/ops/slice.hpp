#pragma once

#include "dice/graph/operator.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace dice::ops {

/// Every steps[a]-th element of axis a from index starts[a] on, extents[a] of them; steps may be negative. Normalised at
/// conversion: all indices lie in the input. ONNX Slice.
struct slice {
  static constexpr std::string_view onnx = "Slice";
  std::array<std::int64_t, tensor::max_rank> starts{}, steps{1, 1, 1, 1, 1, 1, 1, 1};
  tensor::shape extents{};

  constexpr tensor::shape infer(graph::shapes in) const {
    graph::require(extents.rank == in[0].rank, "the slice's rank differs from the input's");
    for (int a = 0; a < extents.rank; ++a) {
      const auto last = starts[a] + (extents[a] - 1) * steps[a];
      graph::require(extents[a] > 0 && std::min(starts[a], last) >= 0 && std::max(starts[a], last) < in[0][a],
                     "the slice is empty or exceeds the input");
    }
    return extents;
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = tensor::whole(in[0]);
    for (int a = 0; a < in[0].rank && a < tensor::region::axes; ++a) {
      const auto first = starts[a] + out.begin[a] * steps[a], last = starts[a] + (out.end[a] - 1) * steps[a];
      r.begin[a] = std::min(first, last), r.end[a] = std::max(first, last) + 1;
    }
    return r;
  }
  /// A slice is contiguous if all axes outside the innermost axis that it cuts have extent 1 in the output.
  constexpr std::int64_t view(graph::shapes in, const tensor::shape&) const {
    std::int64_t offset = 0;
    for (int a = 0; a < extents.rank; ++a) {
      offset += starts[a] * in[0].product(a + 1, in[0].rank);
      if (extents[a] == in[0][a] && steps[a] == 1) continue;
      if (extents.product(0, a) != 1 || (extents[a] > 1 && steps[a] != 1)) return -1;
    }
    return offset;
  }
  constexpr std::int64_t cut_step(int axis, graph::shapes, const tensor::shape&) const { return graph::finest_step(axis); }
  constexpr slice restrict(const tensor::region& out, graph::shapes in, const tensor::shape& result) const {
    const auto needs = input_region(0, out, in, result);
    slice part = *this;
    for (int a = 0; a < extents.rank && a < tensor::region::axes; ++a)
      part.starts[a] += out.begin[a] * steps[a] - needs.begin[a];
    part.extents = tensor::extents(out, extents);
    return part;
  }
};

}  // namespace dice::ops
