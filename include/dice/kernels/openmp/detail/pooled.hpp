// Direct convolution whose output is the largest of each 2 × 2 results. A pair of rows at a time is computed, and never
// leaves the cache.
#pragma once

#include "dice/kernels/openmp/detail/convolution.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dice::kernels::openmp {

/// Computes the part of a band that belongs to thread `thread` of `threads`. The band's first row and column are even.
template <int Lanes> DICE_SHARED void convolve_pooled(const band& b, std::int64_t thread, std::int64_t threads) {
  const auto& form = *b.form;
  const auto taps = form.taps(), width_out = b.columns / 2, depth = form.depth * taps * block, step = b.step;
  const std::int64_t panel = form.groups == 1 ? tile_blocks : 1;  // with groups, blocks may read different channels
  const auto panels = (form.out_blocks() + panel - 1) / panel;
  constexpr std::ptrdiff_t row = tile_pixels<Lanes> * block, plane = 2 * row;
  team::share(b.rows / 2 * panels, thread, threads, [&](std::int64_t u) {
    alignas(64) float results[tile_blocks * plane];  // (block of output channels, row, column, channel)
    const auto y = u / panels, first = u % panels * panel, blocks = std::min(panel, form.out_blocks() - first);
    const auto reads = form.reads(first);
    tile_call c{.in = {},
                .in_blocks = (reads.to + Lanes - 1) / Lanes - reads.from / Lanes,
                .step = step,
                .first = static_cast<int>(reads.from % Lanes),
                .last = static_cast<int>((reads.to - 1) % Lanes) + 1,
                .taps = b.taps,
                .tap_count = taps,
                .weights = b.weights + first * depth,
                .depth = depth,
                .out = {},
                .plane = plane,
                .bias = b.bias + first * block};
    const bool mixed = reads.size() > form.group_channels;
    const float* input = b.input + reads.from / Lanes * step + (2 * y * form.pitch + b.first_column) * Lanes;
    float* to = b.output + first * b.plane + ((b.first_row / 2 + y) * (form.x.out / 2) + b.first_column / 2) * block;
    constexpr int most = tile_pixels<Lanes> / 2;
    for (std::int64_t x = 0; x < width_out; x += most, input += 2 * most * Lanes, to += most * block) {
      const auto pixels = std::min<std::int64_t>(most, width_out - x);
      for (int r = 0; r < 2; ++r) {
        for (int s = 0; s < 2; ++s) {
          c.in[s] = input + (r * form.pitch + s * pixels) * Lanes;
          c.out[s] = results + r * row + s * pixels * block;
        }
        c.fetches = (x == 0 && r == 0) || (!multiplies_by_lane && x + most >= width_out);  // as tiling::each() says
        tile_of<Lanes>(2 * pixels, blocks)(c);
        if (mixed) separate_groups<Lanes>(b, first, 2 * pixels, c, reads.from / Lanes);
      }
      with_activation(*b.finish, [&](const auto& activation) DICE_INLINED {
        for (std::int64_t o = 0; o < blocks; ++o)
          for (std::int64_t i = 0; i < pixels * block; i += width) {
            const float* from = results + o * plane + i / block * 2 * block + i % block;
            const vec upper = larger(load(from), load(from + block)),
                      lower = larger(load(from + row), load(from + row + block));
            store(to + o * b.plane + i, activation(larger(upper, lower)));
          }
      });
      for (std::int64_t o = 0; o < blocks; ++o) finish_pixels(*b.finish, to + o * b.plane, static_cast<int>(pixels), block);
    }
  });
}

}  // namespace dice::kernels::openmp
