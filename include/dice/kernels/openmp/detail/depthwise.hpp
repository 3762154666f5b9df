// Depthwise convolution of a blocked tensor: a block of channels, as vectors, slides over the input in place.
#pragma once

#include "dice/algorithm/convolution.hpp"
#include "dice/kernels/openmp/detail/convolution.hpp"
#include "dice/kernels/openmp/detail/parallel.hpp"
#include "dice/kernels/openmp/detail/tile.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace dice::kernels::openmp {

/// A row of output pixels of a block of channels, and the rows of input and weights under it; advanced from vector to vector
/// of the channels.
struct depthwise_row {
  const algorithm::convolution* form;
  const float* input;           ///< the block's plane
  const float *weights, *bias;  ///< (tap, channel of the block); (channel)
  std::int64_t y;
  float* output;  ///< the row
  const epilogue* finish;
};

/// Adds the products of one row of the window and of the input, where the window has Taps columns without dilation: each
/// number is loaded once for all pixels that share it. `from`: column `at` of the input. The first and the last Taps / 2
/// columns may lie outside, and count as zeros.
template <int Stride, int Taps, int Pixels>
[[gnu::always_inline]] inline void add_row(vec (&sum)[Pixels], const float* from, std::int64_t at, std::int64_t columns,
                                           const float* weights) {
  constexpr int n = (Pixels - 1) * Stride + Taps, halo = Taps / 2;
  vec w[Taps];
  DICE_UNROLL
  for (int k = 0; k < Taps; ++k) w[k] = load(weights + k * block);
  DICE_UNROLL
  for (int i = 0; i < n; ++i) {
    vec in{};
    if ((i >= halo || at + i >= 0) && (i < n - halo || at + i < columns)) in = load(from + i * block);
    DICE_UNROLL
    for (int p = 0; p < Pixels; ++p)
      if (const int k = i - p * Stride; k >= 0 && k < Taps) sum[p] = fma(w[k], in, sum[p]);
  }
}

/// Computes pixels from x on, Stride apart in the input (0: the layer's stride). Taps: as add_row expects, or 0 for any
/// window. With `Border`, taps outside the input count as zeros; they do in any case if add_row computes them.
template <int Pixels, int Stride, int Taps, bool Border, class F>
[[gnu::always_inline]] inline void depthwise_tile(const depthwise_row& r, std::int64_t x, const F& activation) {
  const auto& f = *r.form;
  const auto stride = Stride ? Stride : f.x.stride;
  vec sum[Pixels];
  DICE_UNROLL
  for (int p = 0; p < Pixels; ++p) sum[p] = load(r.bias);
  const float* weights = r.weights;
  const auto rows = f.y.in, columns = f.x.in, step = f.y.dilation, left = x * stride - f.x.pad;
  auto y = r.y * f.y.stride - f.y.pad;
  const float* from = r.input + (y * columns + left) * block;
  for (auto ky = f.y.kernel; ky > 0; --ky, y += step, from += step * columns * block) {
    if (static_cast<std::uint64_t>(y) >= static_cast<std::uint64_t>(rows)) {  // also if negative
      weights += f.x.kernel * block;
      continue;
    }
    if constexpr (Taps > 0) {
      add_row<Stride, Taps>(sum, from, left, columns, weights);
      weights += Taps * block;
      continue;
    }
    auto at = left;
    const float* in = from;
    for (std::int64_t kx = 0; kx < f.x.kernel; ++kx, at += f.x.dilation, in += f.x.dilation * block, weights += block) {
      const vec w = load(weights);
      DICE_UNROLL
      for (int p = 0; p < Pixels; ++p) {
        if (Border && (at + p * stride < 0 || at + p * stride >= columns)) continue;
        sum[p] = fma(w, load(in + p * stride * block), sum[p]);
      }
    }
  }
  const epilogue& e = *r.finish;
  float* to = r.output + x * block;
  const float* residual = e.residual && e.bounds.exact ? e.residual_at(to) : nullptr;
  DICE_UNROLL
  for (int p = 0; p < Pixels; ++p) {
    vec v = sum[p];
    if (residual) v += load(residual + p * block);
    store(to + p * block, activation(v));
  }
}

/// Computes pixels [begin, end) of the row, in steps of two sizes, the rest one by one. The last step may overlap the one
/// before.
template <int Stride, int Taps>
DICE_SHARED void depthwise_pixels(const depthwise_row& r, std::int64_t begin, std::int64_t end) {
  // 14 sums fit beside a window's weights where there are 32 registers; not tried on 64-bit ARM.
  constexpr int small = 7, large = platform::vector_registers >= 32 && !multiplies_by_lane ? 14 : small;
  const auto& f = *r.form;
  // Pixels [first, last) have their window within the row.
  const auto first = (f.x.pad + f.x.stride - 1) / f.x.stride;
  const auto fits = f.x.in + f.x.pad - (f.x.kernel - 1) * f.x.dilation - 1;
  const auto last = fits < 0 ? 0 : fits / f.x.stride + 1;
  with_activation(
      *r.finish, [&](const auto& activation) __attribute__((always_inline)) {
        const auto step = [&]<int Pixels>(std::int64_t x) __attribute__((always_inline)) {
          const bool inside = x >= first && x + Pixels <= last;
          auto v = r;
          for (int lane = 0; lane < block;
               lane += width, v.input += width, v.weights += width, v.bias += width, v.output += width) {
            if (Taps == 0 && inside) depthwise_tile<Pixels, Stride, Taps, false>(v, x, activation);
            else depthwise_tile<Pixels, Stride, Taps, true>(v, x, activation);
          }
        };
        auto x = begin;
        if constexpr (Stride > 0) {
          for (; x + large <= end; x += large) step.template operator()<large>(x);
          if (const auto rest = end - x; rest > 0 && end - begin >= small) {
            if (rest > small) step.template operator()<small>(x);
            step.template operator()<small>(end - small);
            x = end;
          }
        }
        for (; x < end; ++x) step.template operator()<1>(x);
      });
  finish_pixels(*r.finish, r.output + begin * block, static_cast<int>(end - begin), block);
}

/// All images and channels, as far as `w` goes. `packed`: weights (block, tap, channel), then the bias.
inline void convolve_depthwise(const algorithm::convolution& form, const window& w, const call& c, const epilogue& e) {
  const float* packed = reinterpret_cast<const float*>(c.packed);
  const auto& x = form.x;
  const auto taps_of = [&]<int Stride>(std::integral_constant<int, Stride>) {
    const auto halo = x.kernel / 2;
    if (x.dilation == 1 && x.pad <= halo && (x.out - 1) * Stride - x.pad + x.kernel - halo <= x.in) {
      if (x.kernel == 3) return &depthwise_pixels<Stride, 3>;
      if (x.kernel == 5) return &depthwise_pixels<Stride, 5>;
      if (x.kernel == 7) return &depthwise_pixels<Stride, 7>;
    }
    constexpr int known = Stride == 1 ? 1 : 0;  // other windows with stride 2 are rare
    return &depthwise_pixels<known, 0>;
  };
  const auto row = x.stride == 1   ? taps_of(std::integral_constant<int, 1>())
                   : x.stride == 2 ? taps_of(std::integral_constant<int, 2>())
                                   : &depthwise_pixels<0, 0>;
  const auto blocks = form.out_blocks(), taps = form.taps();
  const float* bias = packed + form.weight_elements();
  const auto planes = form.images * blocks;
  const auto from = c.plane(0, form.y.in * form.x.in * block), to = c.output_plane(form.y.out * form.x.out * block);
  parallel_rows(planes, w.rows(), planes * form.y.in * form.x.in * block * tensor::float_bytes > large_map,
                taps * w.columns() * block_vectors, [&](std::int64_t plane, std::int64_t begin, std::int64_t end) {
                  const auto b = plane % blocks;
                  for (auto y = w.top + begin; y < w.top + end; ++y)
                    row({.form = &form,
                         .input = c.inputs[0] + plane * from,
                         .weights = packed + b * taps * block,
                         .bias = bias + b * block,
                         .y = y,
                         .output = c.output + plane * to + y * form.x.out * block,
                         .finish = &e},
                        w.left, w.right);
                });
}

}  // namespace dice::kernels::openmp
