// y = x Wᵀ for W (columns, depth) read in place: each output is a dot product along memory. For one row this runs at the
// speed of memory; for many, tiles of rows × columns share their loads in the caches.
#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

#include <cstddef>
#include <cstdint>

namespace dice::kernels::openmp {

/// y[r][n] = Σ_k x[r][k] w[n][k] (+ bias[n]) for Rows × 4 outputs; rows of x and w lie `depth` apart, rows of y `pitch`.
template <int Rows>
inline void dot_tile(const float* x, const float* w, std::ptrdiff_t depth, const float* bias, float* y,
                     std::ptrdiff_t pitch) {
  constexpr int columns = 4;
  vec sums[Rows][columns];
  DICE_UNROLL
  for (int r = 0; r < Rows; ++r) DICE_UNROLL
  for (int n = 0; n < columns; ++n) sums[r][n] = vec{};
  const auto add = [&](std::ptrdiff_t k) DICE_INLINED {
    vec a[Rows];
    DICE_UNROLL
    for (int r = 0; r < Rows; ++r) a[r] = load(x + r * depth + k);
    DICE_UNROLL
    for (int n = 0; n < columns; ++n) {
      const vec b = load(w + n * depth + k);
      DICE_UNROLL
      for (int r = 0; r < Rows; ++r) sums[r][n] = fma(a[r], b, sums[r][n]);
    }
  };
  constexpr int line = 16;  // elements of a cache line
  std::ptrdiff_t k = 0;
  for (; k + line <= depth; k += line) {
    // Four streams at once; the hardware prefetcher stops at every page.
    if constexpr (Rows == 1) DICE_UNROLL
    for (int n = 0; n < columns; ++n) __builtin_prefetch(w + n * depth + k + 512);
    DICE_UNROLL
    for (int i = 0; i < line; i += width) add(k + i);
  }
  for (; k + width <= depth; k += width) add(k);
  if (const auto rest = depth - k; rest > 0) {
    DICE_UNROLL
    for (int n = 0; n < columns; ++n) {
      const vec b = load_first(w + n * depth + k, rest);
      DICE_UNROLL
      for (int r = 0; r < Rows; ++r) sums[r][n] = fma(load_first(x + r * depth + k, rest), b, sums[r][n]);
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int n = 0; n < columns; ++n) y[r * pitch + n] = sum(sums[r][n]) + (bias ? bias[n] : 0);
}

/// One output.
inline float dot(const float* a, const float* b, std::ptrdiff_t n) {
  vec part[2]{};
  std::ptrdiff_t k = 0;
  for (; k + 2 * width <= n; k += 2 * width)
    for (int i = 0; i < 2; ++i) part[i] = fma(load(a + k + i * width), load(b + k + i * width), part[i]);
  for (; k + width <= n; k += width) part[0] = fma(load(a + k), load(b + k), part[0]);
  if (k < n) part[1] = fma(load_first(a + k, n - k), load_first(b + k, n - k), part[1]);
  return sum(part[0] + part[1]);
}

/// y = x Wᵀ + bias (may be null), then the epilogue. x: (rows, depth), y: (rows, columns).
DICE_SHARED inline void multiply(const float* x, const float* w, const float* bias, float* y, std::int64_t rows,
                                 std::int64_t columns, std::int64_t depth, const epilogue& e) {
  constexpr int tile = platform::vector_registers >= 32 ? 4 : 2;
  // Rows of x that stay in the second-level cache while all columns use them.
  const auto most = std::max<std::int64_t>(tile, 256 * 1024 / (depth * tensor::float_bytes) / tile * tile);
  const auto blocks = (columns + 3) / 4;
  parallel_for(blocks, 4 * rows * depth / width, [&](std::int64_t begin, std::int64_t end) {
    const auto first = begin * 4, stop = std::min(columns, end * 4);
    for (std::int64_t r0 = 0; r0 < rows; r0 += most) {
      const auto r1 = std::min(rows, r0 + most);
      auto n = first;
      for (; n + 4 <= stop; n += 4) {
        auto r = r0;
        const float* b = bias ? bias + n : nullptr;
        for (; r + tile <= r1; r += tile)
          dot_tile<tile>(x + r * depth, w + n * depth, depth, b, y + r * columns + n, columns);
        for (; r < r1; ++r) dot_tile<1>(x + r * depth, w + n * depth, depth, b, y + r * columns + n, columns);
      }
      for (; n < stop; ++n)
        for (auto r = r0; r < r1; ++r) y[r * columns + n] = dot(x + r * depth, w + n * depth, depth) + (bias ? bias[n] : 0);
      for (auto r = r0; r < r1; ++r) e(y + r * columns + first, stop - first);
    }
  });
}

}  // namespace dice::kernels::openmp
