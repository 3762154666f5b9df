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
  DICE_MEMBERS(starts, steps, extents)
  static constexpr const char* always_written = "extents";

  constexpr tensor::shape infer(graph::shapes in) const {
    const auto& x = in[0];
    const auto *first = starts.data(), *step = steps.data();
    graph::require(extents.rank == x.rank, "the slice's rank differs from the input's");
    bool fits = true;
    for (int a = 0; a < extents.rank; ++a) {
      const auto from = first[a], last = from + (extents.dim[a] - 1) * step[a];
      fits = fits && extents.dim[a] > 0 && from >= 0 && last >= 0 && from < x.dim[a] && last < x.dim[a];
    }
    graph::require(fits, "the slice is empty or exceeds the input");
    return extents;
  }
  constexpr tensor::region input_region(int, const tensor::region& out, graph::shapes in, const tensor::shape&) const {
    tensor::region r = tensor::whole(in[0]);
    for (int a = 0; a < in[0].rank && a < tensor::region::axes; ++a) {
      const auto first = starts[a] + out.begin[a] * steps[a], last = starts[a] + (out.end[a] - 1) * steps[a];
      r.begin[a] = std::min(first, last);
      r.end[a] = std::max(first, last) + 1;
    }
    return r;
  }
  /// A slice is contiguous if all axes outside the innermost axis that it cuts have extent 1 in the output.
  constexpr std::int64_t view(graph::shapes in, const tensor::shape&) const {
    const auto& x = in[0];
    const auto *first = starts.data(), *step = steps.data();
    std::int64_t offset = 0, outside = 1;
    for (int a = 0; a < extents.rank; ++a) {
      const auto extent = extents.dim[a];
      if (const bool all = extent == x.dim[a] && step[a] == 1; !all && (outside != 1 || (extent > 1 && step[a] != 1)))
        return -1;
      offset = offset * x.dim[a] + first[a];
      outside *= extent;
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
