// The padded copy of a convolution's input: algorithm::convolution's phases, of planes or of blocks of channels.
#pragma once

#include "dice/algorithm/convolution.hpp"
#include "dice/kernels/openmp/detail/copy.hpp"

#include <cstdint>

namespace dice::kernels::openmp {

/// to[i] = from[i · step] for i < n, for pixels of Lanes elements. Step 2 of single elements, the usual one, is vectorised.
template <int Lanes> void copy_strided(float* to, const float* from, std::int64_t step, std::int64_t n) {
  if (step == 1) return copy(to, from, n * Lanes);
  std::int64_t i = 0;
  if (Lanes == 1 && step == 2)  // the last vector would read one element too many
    for (; i + width < n; i += width) store(to + i, load_even(from + 2 * i));
  for (; i < n; ++i)
    for (int k = 0; k < Lanes; k += width)
      if constexpr (Lanes == 1) to[i] = from[i * step];
      else store(to + i * Lanes + k, load(from + i * step * Lanes + k));
}

/// Writes the padded phases of one plane or block for the band of output rows that begins with `first`.
template <int Lanes>
DICE_SHARED void pad(const algorithm::convolution& form, std::int64_t first, std::int64_t rows, const float* from,
                     float* to) {
  const auto step = form.x.stride;
  const auto ceil = [&](std::int64_t n) { return n <= 0 ? 0 : std::min((n + step - 1) / step, form.pitch); };
  // Phases innermost: the input is read in its order.
  for (std::int64_t r = 0; r < rows + form.y.halo; ++r) {
    const bool last = r + 1 == rows + form.y.halo;
    for (std::int64_t py = 0; py < form.y.phases; ++py) {
      const auto y = form.y.source(py, first + r);
      for (std::int64_t px = 0; px < form.x.phases; ++px) {
        float* row = to + ((py * form.x.phases + px) * form.phase_size + r * form.pitch) * Lanes;
        // Columns [begin, end) of the phase lie in the input.
        const auto shift = -form.x.source(px, 0);
        const auto begin = ceil(shift), end = y < 0 || y >= form.y.in ? begin : std::max(begin, ceil(shift + form.x.in));
        std::fill_n(row, begin * Lanes, 0.0f);
        if (end > begin)
          copy_strided<Lanes>(row + begin * Lanes, from + (y * form.x.in + form.x.source(px, begin)) * Lanes, step,
                              end - begin);
        std::fill_n(row + end * Lanes, (form.pitch - end + (last ? form.overlap : 0)) * Lanes, 0.0f);
      }
    }
  }
}

}  // namespace dice::kernels::openmp
