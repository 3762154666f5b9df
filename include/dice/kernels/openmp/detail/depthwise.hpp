// Depthwise convolution of a blocked tensor: a block of channels, as vectors, slides over the input in place.
#pragma once

#include "dice/algorithm/convolution.hpp"
#include "dice/kernels/openmp/detail/convolution.hpp"
#include "dice/kernels/openmp/detail/parallel.hpp"
#include "dice/kernels/openmp/detail/tile.hpp"

#include <algorithm>
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
/// number is loaded once for all pixels that share it. `from`: column `at` of the input. With `Border`, the first and the
/// last Taps / 2 columns may lie outside, and count as zeros.
template <int Stride, int Taps, bool Border, int Pixels>
DICE_INLINED inline void add_row(vec (&sum)[together][Pixels], const float* from, std::int64_t at, std::int64_t columns,
                                 const float* weights) {
  constexpr int n = (Pixels - 1) * Stride + Taps, halo = Taps / 2;
  vec w[together][Taps];
  DICE_UNROLL
  for (int k = 0; k < Taps; ++k)
    for (int l = 0; l < together; ++l) w[l][k] = load(weights + k * block + l * width);
  const auto read = [&](int i, vec(&in)[together]) DICE_INLINED {
    for (vec& v : in) v = vec{};
    if (!Border || ((i >= halo || at + i >= 0) && (i < n - halo || at + i < columns)))
      for (int l = 0; l < together; ++l) in[l] = load(from + i * block + l * width);
  };
  // Products that stay where they are written need their numbers before, while the registers suffice.
  constexpr int ahead = multiplies_by_lane && Taps < 7 ? 1 : 0;
  vec in[2][together];
  if (ahead) read(0, in[0]);
  DICE_UNROLL
  for (int i = 0; i < n; ++i) {
    if (i + ahead < n) read(i + ahead, in[(i + ahead) % 2]);
    DICE_UNROLL
    for (int p = 0; p < Pixels; ++p)
      if (const int k = i - p * Stride; k >= 0 && k < Taps)
        for (int l = 0; l < together; ++l) {
          if constexpr (multiplies_by_lane) add_product_of(sum[l][p], w[l][k], in[i % 2][l]);  // GCC would move sums about
          else sum[l][p] = fma(w[l][k], in[i % 2][l], sum[l][p]);
        }
  }
}

/// Computes pixels from x on, Stride apart in the input (0: the layer's stride). Taps: as add_row expects, or 0 for any
/// window. With `Border`, taps outside the input count as zeros.
template <int Pixels, int Stride, int Taps, bool Border, class F>
DICE_INLINED inline void depthwise_tile(const depthwise_row& r, std::int64_t x, const F& activation) {
  const auto& f = *r.form;
  const auto stride = Stride ? Stride : f.x.stride;
  vec sum[together][Pixels];
  DICE_UNROLL
  for (int p = 0; p < Pixels; ++p) load_together(r.bias, sum, p);
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
      add_row<Stride, Taps, Border>(sum, from, left, columns, weights);
      weights += Taps * block;
      continue;
    }
    auto at = left;
    const float* in = from;
    for (std::int64_t kx = 0; kx < f.x.kernel; ++kx, at += f.x.dilation, in += f.x.dilation * block, weights += block) {
      vec w[together][1];
      load_together(weights, w, 0);
      DICE_UNROLL
      for (int p = 0; p < Pixels; ++p) {
        if (Border && (at + p * stride < 0 || at + p * stride >= columns)) continue;
        for (int l = 0; l < together; ++l) sum[l][p] = fma(w[l][0], load(in + p * stride * block + l * width), sum[l][p]);
      }
    }
  }
  const epilogue& e = *r.finish;
  float* to = r.output + x * block;
  const float* residual = e.residual && e.bounds.exact ? e.residual_at(to) : nullptr;
  unrolled<Pixels>([&](auto p) DICE_INLINED {
    vec v[together][1];
    for (int l = 0; l < together; ++l) {
      v[l][0] = sum[l][p];
      if (residual) v[l][0] += load(residual + p * block + l * width);
      v[l][0] = activation(v[l][0]);
    }
    store_together<p * block>(to, v, 0);
  });
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
  with_activation(*r.finish, [&](const auto& activation) DICE_INLINED {
    const auto step = [&]<int Pixels>(std::int64_t x) DICE_INLINED {
      const bool inside = x >= first && x + Pixels <= last;
      auto v = r;
      constexpr int n = together_lanes;
      for (int lane = 0; lane < block; lane += n, v.input += n, v.weights += n, v.bias += n, v.output += n) {
        if ((Taps == 0 || multiplies_by_lane) && inside) depthwise_tile<Pixels, Stride, Taps, false>(v, x, activation);
        else depthwise_tile<Pixels, Stride, Taps, true>(v, x, activation);
      }
    };
    auto x = begin;
    if constexpr (Stride > 0)
      if (end - begin >= small) {
        if constexpr (large > small)
          for (; x + large <= end; x += large) step.template operator()<large>(x);
        for (; x < end; x += small) step.template operator()<small>(std::min(x, end - small));
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
