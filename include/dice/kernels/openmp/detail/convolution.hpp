// Direct convolution in tiles of output channels × pixels, see cost::convolution for the layout.
//
// All input channels and taps of a tile are summed in registers: the weights of a panel (some 100 KB in deep layers) come
// from the second-level cache, the input's band too. Tiles hold up to three vectors of pixels: with eight channels (32
// registers) 24 sums per 3 loads and 8 broadcasts, with four (16 registers) 12 per 3 and 4.
#pragma once

#include "dice/kernels/openmp/detail/padded.hpp"

#include <cstddef>
#include <utility>

namespace dice::kernels::host {

inline constexpr int panel = cost::convolution::panel;
/// Register tile: output channels, vectors of pixels.
inline constexpr int tile_rows = platform::vector_registers >= 32 ? 8 : 4;
#if defined(__FMA__) || defined(__aarch64__)
inline constexpr int tile_vectors = 3;
#else
inline constexpr int tile_vectors = 2;  // a product needs a register of its own
#endif
inline constexpr std::ptrdiff_t tile_pitch = tile_vectors * width;

/// What a tile needs besides its place.
struct tile_source {
  const float* input;    ///< of the group's first channel
  std::ptrdiff_t plane;  ///< between channels
  std::ptrdiff_t channels;
  const std::ptrdiff_t* taps;  ///< offsets
  std::ptrdiff_t tap_count;
};

/// sums[r][v] = Σ over channels and taps of weight r · input at[v]. `weights`: (channel, tap, panel). With `Single` there is
/// one tap at offset 0.
template <int Vectors, bool Single>
DICE_SHARED void convolution_tile(const tile_source& s, const float* weights, const std::ptrdiff_t* at, float* sums) {
  vec sum[tile_rows][Vectors];
  DICE_UNROLL
  for (int r = 0; r < tile_rows; ++r) DICE_UNROLL
  for (int v = 0; v < Vectors; ++v) sum[r][v] = vec{};

  const float* x[Vectors];
  for (int v = 0; v < Vectors; ++v) x[v] = s.input + at[v];
  const auto step = [&](std::ptrdiff_t offset) __attribute__((always_inline)) {
    vec in[Vectors];
    DICE_UNROLL
    for (int v = 0; v < Vectors; ++v) in[v] = load(x[v] + offset);
#if defined(__aarch64__)
    vec w[tile_rows / width];
    DICE_UNROLL
    for (int r = 0; r < tile_rows; r += width) w[r / width] = load(weights + r);
    DICE_UNROLL
    for (int v = 0; v < Vectors; ++v) [&]<int... R>(std::integer_sequence<int, R...>) __attribute__((always_inline)) {
        ((sum[R][v] = fma_lane<R % width>(in[v], w[R / width], sum[R][v])), ...);
      }
    (std::make_integer_sequence<int, tile_rows>{});
#else
    DICE_UNROLL
    for (int r = 0; r < tile_rows; ++r) {
      const vec w = splat(weights[r]);
      DICE_UNROLL
      for (int v = 0; v < Vectors; ++v) sum[r][v] = fma(w, in[v], sum[r][v]);
    }
#endif
    weights += panel;
  };
  std::ptrdiff_t base = 0;
  for (std::ptrdiff_t c = 0; c < s.channels; ++c, base += s.plane) {
    if constexpr (Single) step(base);
    else
      for (std::ptrdiff_t t = 0; t < s.tap_count; ++t) step(base + s.taps[t]);
  }

  DICE_UNROLL
  for (int r = 0; r < tile_rows; ++r) DICE_UNROLL
  for (int v = 0; v < Vectors; ++v) store(sums + r * tile_pitch + v * width, sum[r][v]);
}

using tile_function = void (*)(const tile_source&, const float*, const std::ptrdiff_t*, float*);

/// The tile of 1 … tile_vectors vectors.
inline tile_function convolution_tile_of(std::int64_t vectors, bool single) {
  static constexpr tile_function table[2][3] = {
      {&convolution_tile<1, false>, &convolution_tile<2, false>, &convolution_tile<tile_vectors, false>},
      {&convolution_tile<1, true>, &convolution_tile<2, true>, &convolution_tile<tile_vectors, true>}};
  return table[single ? 1 : 0][vectors - 1];
}

/// One band of one image, ready to be computed.
struct band {
  const cost::convolution* form;
  const float* input;  ///< padded, or in place
  const float *weights, *bias;
  const std::ptrdiff_t* taps;
  float* output;  ///< the image's
  std::int64_t first_row, rows;
  const epilogue* finish;

  std::int64_t pixels() const { return (rows - 1) * form->pitch + form->x.out; }
  std::int64_t vectors() const { return (pixels() + width - 1) / width; }
};

/// Computes vectors [begin, end) of the pixels of `b` for one panel (index over all groups).
inline void convolve_panel(const band& b, std::int64_t which, std::int64_t begin, std::int64_t end) {
  const auto& form = *b.form;
  const auto group = which / form.panels, first = which % form.panels * panel;
  const auto rows = static_cast<int>(std::min<std::int64_t>(panel, form.group_outputs - first));
  const auto taps = form.taps(), area = form.y.out * form.x.out;
  const tile_source source{b.input + group * form.group_channels * form.plane, form.plane, form.group_channels, b.taps,
                           taps};
  const float* weights = b.weights + which * form.group_channels * taps * panel;
  float* output = b.output + (group * form.group_outputs + first) * area + b.first_row * form.x.out;
  const bool single = taps == 1;

  alignas(64) float sums[panel * tile_pitch];
  const auto limit = b.pixels();
  auto tiles = (end - begin + tile_vectors - 1) / tile_vectors;
  for (auto v = begin; v < end; --tiles) {
    const auto n = (end - v + tiles - 1) / tiles;
    const auto from = v * width, to = std::min(from + n * width, limit);
    std::ptrdiff_t at[tile_vectors];
    for (int k = 0; k < tile_vectors; ++k) at[k] = from + k * width;
    // In place nothing may be read behind the input: the last vector moves back, and its first lanes are not used.
    const auto back = form.reads_in_place ? std::max<std::int64_t>(0, from + n * width - limit) : 0;
    at[n - 1] -= back;
    const auto tile = convolution_tile_of(n, single);
    for (int r = 0; r < rows; r += tile_rows) tile(source, weights + r, at, sums + r * tile_pitch);

    const auto write = [&](std::int64_t y, std::int64_t x, std::int64_t pixel, std::int64_t count, std::int64_t lane) {
      (*b.finish)({.to = output + y * form.x.out + x,
                   .from = sums + (pixel - from) + lane,
                   .to_stride = area,
                   .from_stride = tile_pitch,
                   .bias = b.bias + which * panel,
                   .rows = rows,
                   .columns = count});
    };
    if (back > 0) {  // one row of pixels
      const auto last = from + (n - 1) * width;
      if (last > from) write(0, from, from, last - from, 0);
      write(0, last, last, to - last, back);
    } else {
      each_run(form, from, to, [&](auto y, auto x, auto pixel, auto count) { write(y, x, pixel, count, 0); });
    }
    v += n;
  }
}

/// Computes the part of a band that belongs to thread `thread` of `threads`.
inline void convolve(const band& b, std::int64_t thread, std::int64_t threads) {
  constexpr std::int64_t cache = 512 * 1024;
  const auto& form = *b.form;
  const auto vectors = b.vectors(), panels = form.groups * form.panels;
  // Chunks of pixels whose input stays in the second-level cache while the panels go over it, and enough parts for all.
  const auto bytes = form.group_channels * width * tensor::element_bytes;
  auto chunks = form.reads_in_place ? (vectors * bytes + cache - 1) / cache : 1;
  if (threads > 1) chunks = std::max(chunks, (4 * threads + panels - 1) / panels);
  chunks = std::min(chunks, (vectors + tile_vectors - 1) / tile_vectors);

  const auto units = chunks * panels, last = units * (thread + 1) / threads;
  for (auto u = units * thread / threads; u < last; ++u) {
    const auto chunk = u / panels;
    convolve_panel(b, u % panels, vectors * chunk / chunks, vectors * (chunk + 1) / chunks);
  }
}

}  // namespace dice::kernels::host
