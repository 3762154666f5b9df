#pragma once

#include "dice/cost/convolution.hpp"
#include "dice/kernels/openmp/detail/copy.hpp"

namespace dice::kernels::host {

/// to[i] = from[i · step] for i < n; step 2, the usual one, by vectors.
inline void copy_strided(float* to, const float* from, std::int64_t step, std::int64_t n) {
  if (step == 1) return copy(to, from, n);
  std::int64_t i = 0;
  if (step == 2)  // the last vector would read one element too many
    for (; i + width < n; i += width) store(to + i, load_even(from + 2 * i));
  for (; i < n; ++i) to[i] = from[i * step];
}

/// Writes one channel's padded phases (cost::convolution) for the band of output rows that begins with `first`.
inline void pad_channel(const cost::convolution& form, std::int64_t first, std::int64_t rows, const float* from, float* to) {
  for (std::int64_t py = 0; py < form.y.phases; ++py)
    for (std::int64_t px = 0; px < form.x.phases; ++px, to += form.phase_size) {
      // Columns [begin, end) of the phase lie in the input.
      const auto shift = -form.x.source(px, 0), step = form.x.stride;
      const auto ceil = [&](std::int64_t n) { return n <= 0 ? 0 : std::min((n + step - 1) / step, form.pitch); };
      const auto begin = ceil(shift), end = std::max(begin, ceil(shift + form.x.in));
      float* row = to;
      for (std::int64_t r = 0; r < rows + form.y.halo; ++r, row += form.pitch) {
        const auto y = form.y.source(py, first + r);
        if (y < 0 || y >= form.y.in) {
          std::fill_n(row, form.pitch, 0.0f);
          continue;
        }
        std::fill_n(row, begin, 0.0f);
        if (end > begin) copy_strided(row + begin, from + y * form.x.in + form.x.source(px, begin), step, end - begin);
        std::fill_n(row + end, form.pitch - end, 0.0f);
      }
      std::fill_n(row, form.overlap, 0.0f);
    }
}

/// Calls f(pixels' row y, column x, first pixel of the tile, n) for the runs of valid outputs among the pixels
/// [begin, end) of a band with `pitch` pixels per row.
template <class F> void each_run(const cost::convolution& form, std::int64_t begin, std::int64_t end, const F& f) {
  for (auto y = begin / form.pitch; y * form.pitch < end; ++y) {
    const auto from = std::max(begin, y * form.pitch), to = std::min(end, y * form.pitch + form.x.out);
    if (from < to) f(y, from - y * form.pitch, from, to - from);
  }
}

}  // namespace dice::kernels::host
