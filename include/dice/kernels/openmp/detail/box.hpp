#pragma once

#include "dice/kernels/openmp/detail/copy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dice::kernels::openmp {

/// A tensor's axes in memory, outermost first: its own, or N, blocks of channels, (H,) W, lanes. `pitch`: elements between
/// planes (task::output_pitch), or 0.
struct axes {
  tensor::shape extent;
  std::int64_t stride[tensor::max_rank];

  axes(const tensor::shape& s, tensor::layout l, std::int64_t pitch) : extent(s) {
    if (l == tensor::layout::blocked) {
      extent[1] = tensor::blocks(s[1]);
      extent.push_back(tensor::block);
    }
    std::int64_t n = 1;
    for (int a = extent.rank - 1; a >= 0; n = stride[a] * extent[a], --a) stride[a] = a == 1 && pitch ? pitch : n;
  }
};

/// Elements that are copied: their extents, and their strides in both places, of any sign, in elements. Adjacent axes along
/// which both continue with an even stride are merged.
struct box {
  float* to = nullptr;
  const float* from = nullptr;
  int rank = 0;
  std::int64_t extent[tensor::max_rank]{}, to_stride[tensor::max_rank]{}, from_stride[tensor::max_rank]{};

  void push_back(std::int64_t n, std::int64_t to_step, std::int64_t from_step) {
    if (n == 1) return;
    if (rank > 0 && to_stride[rank - 1] == to_step * n && from_stride[rank - 1] == from_step * n) {
      extent[rank - 1] *= n;
      to_stride[rank - 1] = to_step;
      from_stride[rank - 1] = from_step;
    } else {
      extent[rank] = n;
      to_stride[rank] = to_step;
      from_stride[rank] = from_step;
      ++rank;
    }
  }
  /// How many are to be copied: none if they lie in place.
  std::int64_t elements() const {
    std::int64_t n = 1;
    bool placed = to == from;
    for (int a = 0; a < rank; ++a) {
      n *= extent[a];
      placed = placed && to_stride[a] == from_stride[a];
    }
    return placed ? 0 : n;
  }
  /// Copies elements [begin, end), counted in the order of the axes.
  void copy(std::int64_t begin, std::int64_t end) const {
    if (rank == 0) return void(*to = *from);
    const int last = rank - 1;
    const auto row = extent[last];
    std::int64_t at[tensor::max_rank];
    float* target = to;
    const float* source = from;
    for (std::int64_t rest = begin / row, a = last - 1; a >= 0; --a) {
      at[a] = rest % extent[a];
      rest /= extent[a];
      target += at[a] * to_stride[a];
      source += at[a] * from_stride[a];
    }
    for (auto column = begin % row;; column = 0) {
      const auto n = std::min(row - column, end - begin);
      copy_row(target + column * to_stride[last], to_stride[last], source + column * from_stride[last], from_stride[last],
               n);
      if ((begin += n) == end) return;
      // The next row.
      for (int a = last - 1;; --a) {
        target += to_stride[a];
        source += from_stride[a];
        if (++at[a] < extent[a]) break;
        target -= extent[a] * to_stride[a];
        source -= extent[a] * from_stride[a];
        at[a] = 0;
      }
    }
  }
};

/// Copies box_of(0), …, box_of(count - 1) by all threads together.
template <class F> void copy_boxes(std::size_t count, const F& box_of) {
  std::int64_t all = 0;
  for (std::size_t k = 0; k < count; ++k) all += box_of(k).elements();
  parallel_elements(all, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t first = 0;  // of the box, among all elements
    for (std::size_t k = 0; k < count && first < end; ++k) {
      const box b = box_of(k);
      const auto n = b.elements(), from = std::max(begin - first, std::int64_t{0}), to = std::min(end - first, n);
      if (from < to) b.copy(from, to);
      first += n;
    }
  });
}

/// Applies the epilogue to a whole output, plane by plane if these do not follow one another.
inline void finish(const call& c, const axes& output, const epilogue& e) {
  if (e.empty()) return;
  const auto& s = output.extent;
  if (c.output_pitch == 0) return e(c.output, s.elements());
  for (std::int64_t plane = 0; plane < s.product(0, 2); ++plane) e(c.output + plane * c.output_pitch, s.product(2, s.rank));
}

}  // namespace dice::kernels::openmp
