#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::kernels::openmp {

/// Calls f(row, begin, end) for ranges of elements, each within one channel (plain) or one block of channels (blocked);
/// `row` counts these over all images. Then applies the epilogue.
template <class F> void each_row(const tensor::shape& result, tensor::layout layout, const epilogue& e, const F& f) {
  const auto size = result.product(2, result.rank) * (layout == tensor::layout::blocked ? tensor::block : 1);
  if (layout == tensor::layout::blocked) {
    const auto rows = result.rank > 3 ? result[2] : 1, row = size / rows, planes = tensor::elements(result, layout) / size;
    return parallel_rows(planes, rows, rows > 1, row, [&](std::int64_t plane, std::int64_t begin, std::int64_t end) {
      const auto at = plane * size + begin * row, stop = plane * size + end * row;
      f(plane, at, stop);
      e(e.output + at, stop - at);
    });
  }
  parallel_elements(tensor::elements(result, layout), [&](std::int64_t begin, std::int64_t end) {
    for (auto at = begin; at < end;) {
      const auto row = at / size, stop = std::min(end, (row + 1) * size);
      f(row, at, stop);
      at = stop;
    }
    e(e.output + begin, end - begin);
  });
}

/// A value for each channel of a block.
struct lanes {
  alignas(64) float of[tensor::block]{};

  explicit lanes(float all) { std::fill_n(of, tensor::block, all); }
  /// The `channels` values at `from`, for a channel and those after it; lanes beyond the last are 0.
  lanes(const float* from, std::int64_t channels) { std::copy_n(from, std::min(tensor::block, channels), of); }
};

}  // namespace dice::kernels::openmp
