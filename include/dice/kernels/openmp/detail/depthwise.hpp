// Depthwise convolution: each channel is padded into its place of the scratch and convolved there while it is in the cache.
#pragma once

#include "dice/kernels/openmp/detail/padded.hpp"

#include <cstddef>

namespace dice::kernels::host {

/// sums[v] = Σ over taps of weights[t] · input[taps[t] + v · width].
template <int Vectors>
inline void depthwise_tile(const float* input, const std::ptrdiff_t* taps, std::ptrdiff_t count, const float* weights,
                           float* sums) {
  vec sum[Vectors];
  DICE_UNROLL
  for (int v = 0; v < Vectors; ++v) sum[v] = vec{};
  for (std::ptrdiff_t t = 0; t < count; ++t) {
    const float* x = input + taps[t];
    const vec w = splat(weights[t]);
    DICE_UNROLL
    for (int v = 0; v < Vectors; ++v) sum[v] = fma(w, load(x + v * width), sum[v]);
  }
  DICE_UNROLL
  for (int v = 0; v < Vectors; ++v) store(sums + v * width, sum[v]);
}

/// One padded channel to one output channel.
inline void depthwise_channel(const cost::convolution& form, const float* input, const std::ptrdiff_t* taps,
                              const float* weights, const float* bias, float* output, const epilogue& e) {
  constexpr int most = 8;
  alignas(64) float sums[most * width];
  const auto pixels = (form.y.out - 1) * form.pitch + form.x.out;
  for (std::int64_t p = 0; p < pixels;) {
    const auto left = (pixels - p + width - 1) / width;
    const std::int64_t n = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    const auto tile = n == 8   ? &depthwise_tile<8>
                      : n == 4 ? &depthwise_tile<4>
                      : n == 2 ? &depthwise_tile<2>
                               : &depthwise_tile<1>;
    tile(input + p, taps, form.taps(), weights, sums);
    each_run(form, p, std::min(p + n * width, pixels), [&](auto y, auto x, auto pixel, auto count) {
      e({.to = output + y * form.x.out + x, .from = sums + (pixel - p), .bias = bias, .columns = count});
    });
    p += n * width;
  }
}

/// All images and channels. `weights`: plain (channels · multiplier, kh, kw); `bias` may be null.
inline void depthwise(const cost::convolution& form, const float* input, float* scratch, const std::ptrdiff_t* taps,
                      const float* weights, const float* bias, const epilogue& e) {
  const auto size = form.y.in * form.x.in, area = form.y.out * form.x.out, multiplier = form.group_outputs;
  for (std::int64_t image = 0; image < form.images; ++image)
    parallel_for(form.channels, form.taps() * area * multiplier, [&](std::int64_t begin, std::int64_t end) {
      for (auto c = begin; c < end; ++c) {
        float* padded = scratch + c * form.plane;
        pad_channel(form, 0, form.y.out, input + (image * form.channels + c) * size, padded);
        for (std::int64_t m = 0; m < multiplier; ++m) {
          const auto o = c * multiplier + m;
          depthwise_channel(form, padded, taps, weights + o * form.taps(), bias ? bias + o : nullptr,
                            e.output + (image * form.out_channels + o) * area, e);
        }
      }
    });
}

}  // namespace dice::kernels::host
