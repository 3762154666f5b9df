// Winograd's convolution, see cost::winograd. For each block of tiles all threads first transform the input, a vector of
// channels at a time, and then each multiplies and finishes panels of output channels.
#pragma once

#include "dice/cost/winograd.hpp"
#include "dice/kernels/detail/epilogue.hpp"
#include "dice/kernels/detail/transpose.hpp"
#include "dice/kernels/openmp/detail/block_tile.hpp"
#include "dice/kernels/openmp/detail/filter.hpp"
#include "dice/kernels/openmp/detail/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dice::kernels::host {

/// Tiles side by side that are transformed at once.
inline constexpr std::int64_t tile_run = 8;

/// Tiles that are computed together. Transformed they lie as (point, vector of channels, tile, lane).
struct tile_block {
  const cost::winograd* form;
  std::int64_t first_row, first_column, rows, columns;  ///< of tiles

  std::int64_t tiles() const { return rows * columns; }
  std::int64_t runs() const { return rows * ((columns + tile_run - 1) / tile_run); }
  /// Calls f(first tile within the block, its row and column in the image's tiles, tiles) for run `r`.
  template <class F> void run(std::int64_t r, const F& f) const {
    const auto parts = (columns + tile_run - 1) / tile_run;
    const auto y = r / parts, x = r % parts * tile_run;
    f(y * columns + x, first_row + y, first_column + x, std::min(tile_run, columns - x));
  }
};

/// Reads `width` channels (`count` of them there, the others 0) of plain rows [y, y + rows) × columns [x, x + columns),
/// zeros outside the image, as (row, column, lane).
inline void read_channels(const cost::winograd& f, const float* plane, std::int64_t count, std::int64_t y, std::int64_t x,
                          std::int64_t rows, std::int64_t columns, float* to) {
  const auto area = f.height * f.width;
  const auto first = std::clamp<std::int64_t>(-x, 0, columns), last = std::clamp(f.width - x, first, columns);
  for (auto i = y; i < y + rows; ++i, to += columns * width) {
    if (i < 0 || i >= f.height) {
      std::fill_n(to, columns * width, 0.0f);
      continue;
    }
    std::fill_n(to, first * width, 0.0f);
    const float* from = plane + i * f.width + x;
    for (auto at = first; at < last; at += width) {
      const auto n = std::min<std::int64_t>(width, last - at);
      vec lines[width];
      for (std::int64_t c = 0; c < width; ++c) {
        const float* p = from + c * area + at;
        lines[c] = c >= count ? vec{} : n == width ? load(p) : load_first(p, n);
      }
      transpose(lines);
      for (std::int64_t c = 0; c < n; ++c) store(to + (at + c) * width, lines[c]);
    }
    std::fill_n(to + last * width, (columns - last) * width, 0.0f);
  }
}

/// Transforms vector `v` of the channels of a run of tiles. `to`: the block's (point, vector, tile, lane).
template <int Pairs>
DICE_SHARED void transform_input(const tile_block& b, const float* image, std::int64_t v, std::int64_t run, float* to) {
  using transform = filter<Pairs>;
  constexpr int m = transform::outputs, n = transform::inputs;
  const auto& f = *b.form;
  const auto tiles = b.tiles(), pitch = f.depth() * tiles;
  alignas(64) float strip[n * (tile_run * m + 2) * width];
  b.run(run, [&](std::int64_t tile, std::int64_t y, std::int64_t x, std::int64_t count) {
    const auto columns = count * m + 2;
    read_channels(f, image + v * width * f.height * f.width, f.channels - v * width, y * m - f.top, x * m - f.left, n,
                  columns, strip);
    for (std::int64_t t = 0; t < count; ++t) {
      vec half[n][n];
      const float* from = strip + t * m * width;
      for (int j = 0; j < n; ++j) {
        vec d[n], o[n];
        DICE_UNROLL
        for (int i = 0; i < n; ++i) d[i] = load(from + (i * columns + j) * width);
        transform::input(d, o);
        DICE_UNROLL
        for (int i = 0; i < n; ++i) half[i][j] = o[i];
      }
      float* out = to + (v * tiles + tile + t) * width;
      for (int i = 0; i < n; ++i) {
        vec o[n];
        transform::input(half[i], o);
        DICE_UNROLL
        for (int j = 0; j < n; ++j) store(out + (i * n + j) * pitch, o[j]);
      }
    }
  });
}

/// Finishes a run of tiles of `width` output channels from `channel` on. `sums`: (point, …, tile, lane), points `pitch`
/// apart.
template <int Pairs>
DICE_SHARED void transform_output(const tile_block& b, const float* sums, std::ptrdiff_t pitch, std::int64_t channel,
                                  std::int64_t run, const float* bias, float* image, const epilogue& e) {
  using transform = filter<Pairs>;
  constexpr int m = transform::outputs, n = transform::inputs;
  constexpr auto most = (tile_run * m + width - 1) / width * width;
  const auto& f = *b.form;
  alignas(64) float strip[m][most * width], rows[width * most];
  b.run(run, [&](std::int64_t tile, std::int64_t y, std::int64_t x, std::int64_t count) {
    for (std::int64_t t = 0; t < count; ++t) {
      const float* from = sums + (tile + t) * width;
      vec half[m][n];
      for (int j = 0; j < n; ++j) {
        vec d[n], o[m];
        DICE_UNROLL
        for (int i = 0; i < n; ++i) d[i] = load(from + (i * n + j) * pitch);
        transform::output(d, o);
        DICE_UNROLL
        for (int i = 0; i < m; ++i) half[i][j] = o[i];
      }
      for (int i = 0; i < m; ++i) {
        vec o[m];
        transform::output(half[i], o);
        DICE_UNROLL
        for (int j = 0; j < m; ++j) store(strip[i] + (t * m + j) * width, o[j]);
      }
    }
    const auto columns = std::min(count * m, f.out_width - x * m), height = std::min<std::int64_t>(m, f.out_height - y * m);
    const auto area = f.out_height * f.out_width;
    for (int i = 0; i < height; ++i) {
      for (std::int64_t at = 0; at < columns; at += width) {
        vec lines[width];
        for (int c = 0; c < width; ++c) lines[c] = load(strip[i] + (at + c) * width);
        transpose(lines);
        for (int c = 0; c < width; ++c) store(rows + c * most + at, lines[c]);
      }
      e({.to = image + channel * area + (y * m + i) * f.out_width + x * m,
         .from = rows,
         .to_stride = area,
         .from_stride = most,
         .bias = bias,
         .rows = static_cast<int>(std::min<std::int64_t>(width, f.out_channels - channel)),
         .columns = columns});
    }
  });
}

/// Products of a block with the weights of panel `which`, finished.
template <int Pairs>
void multiply_panel(const tile_block& b, const float* transformed, const float* weights, const float* bias,
                    std::int64_t which, float* image, const epilogue& e) {
  constexpr auto size = cost::winograd::panel;
  constexpr int points = filter<Pairs>::inputs * filter<Pairs>::inputs;
  alignas(64) float sums[points * cost::winograd::most_tiles * size];
  const auto& f = *b.form;
  const auto tiles = b.tiles(), depth = f.depth();
  const auto parts = (tiles + block_rows - 1) / block_rows;
  for (std::int64_t p = 0; p < points; ++p) {
    const float* w = weights + (which * points + p) * depth * size;
    for (std::int64_t lane = 0; lane < size; lane += block_lanes)
      for (std::int64_t i = 0; i < parts; ++i) {
        const auto from = tiles * i / parts, to = tiles * (i + 1) / parts;
        block_tile_of(to - from)({.input = transformed + p * depth * tiles + from * width,
                                  .block = tiles * width,
                                  .blocks = depth / width,
                                  .weights = w + lane,
                                  .pitch = size,
                                  .output = sums + (p * size + lane) * tiles + from * width,
                                  .plane = tiles * width});
      }
  }
  for (std::int64_t lane = 0; lane < size && which * size + lane < f.out_channels; lane += width)
    for (std::int64_t r = 0; r < b.runs(); ++r)
      transform_output<Pairs>(b, sums + lane * tiles, size * tiles, which * size + lane, r, bias + which * size + lane,
                              image, e);
}

/// One thread's part of the convolution; barriers keep the threads of the team in the same block.
template <int Pairs>
DICE_SHARED void winograd_part(const cost::winograd& f, const call& c, std::int64_t thread, std::int64_t threads,
                               const epilogue& e) {
  const float* weights = reinterpret_cast<const float*>(c.packed);
  float* transformed = reinterpret_cast<float*>(c.scratch);
  for (std::int64_t image = 0; image < f.images; ++image)
    for (std::int64_t y = 0; y < f.rows; y += f.block_rows)
      for (std::int64_t x = 0; x < f.columns; x += f.block_columns) {
        const tile_block b{&f, y, x, std::min(f.block_rows, f.rows - y), std::min(f.block_columns, f.columns - x)};
        const auto units = f.depth() / width * b.runs();
        for (auto u = units * thread / threads; u < units * (thread + 1) / threads; ++u)
          transform_input<Pairs>(b, c.inputs[0] + image * f.channels * f.height * f.width, u / b.runs(), u % b.runs(),
                                 transformed);
#pragma omp barrier
        for (auto p = f.panels() * thread / threads; p < f.panels() * (thread + 1) / threads; ++p)
          multiply_panel<Pairs>(b, transformed, weights, weights + f.weight_elements(), p,
                                c.output + image * f.out_channels * f.out_height * f.out_width, e);
#pragma omp barrier
      }
}

/// The convolution `f` by all threads.
inline void convolve(const cost::winograd& f, const call& c, const epilogue& e) {
  const auto part = f.pairs == 1 ? &winograd_part<1> : f.pairs == 2 ? &winograd_part<2> : &winograd_part<3>;
  const auto work = f.weight_elements() / width * f.rows * f.columns;
  team::run(threads_for(f.panels(), work), [&](std::int64_t t, std::int64_t n) { part(f, c, t, n, e); });
}

/// Transforms weights (out_channels, channels, 3, 3) in double precision.
template <int Pairs> void transform_weights(const cost::winograd& f, const float* from, float* to) {
  constexpr int n = filter<Pairs>::inputs;
  constexpr auto g = filter<Pairs>::weights();
  constexpr auto size = cost::winograd::panel;
  for (std::int64_t o = 0; o < f.panels() * size; ++o)
    for (std::int64_t c = 0; c < f.depth(); ++c) {
      double half[n][3] = {};
      const bool there = o < f.out_channels && c < f.channels;
      for (int i = 0; there && i < n; ++i)
        for (int x = 0; x < 3; ++x)
          for (int y = 0; y < 3; ++y) half[i][x] += g[i][y] * from[(o * f.channels + c) * 9 + y * 3 + x];
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          double sum = 0;
          for (int x = 0; x < 3; ++x) sum += half[i][x] * g[j][x];
          to[((o / size * n * n + i * n + j) * f.depth() + c) * size + o % size] = static_cast<float>(sum);
        }
    }
}
inline void transform_weights(const cost::winograd& f, source from, bool with_bias, float* to) {
  if (f.pairs == 1) transform_weights<1>(f, from[0], to);
  else if (f.pairs == 2) transform_weights<2>(f, from[0], to);
  else transform_weights<3>(f, from[0], to);
  for (std::int64_t o = 0; o < f.panels() * cost::winograd::panel; ++o)
    to[f.weight_elements() + o] = with_bias && o < f.out_channels ? from[1][o] : 0;
}

}  // namespace dice::kernels::host
