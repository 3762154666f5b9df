// Depthwise convolution of a blocked tensor: a block of channels, as vectors, slides over the input in place.
#pragma once

#include "dice/algorithm/convolution.hpp"
#include "dice/kernels/openmp/detail/convolution.hpp"
#include "dice/kernels/openmp/detail/parallel.hpp"
#include "dice/kernels/openmp/detail/tile.hpp"

#include <cstddef>
#include <cstdint>

namespace dice::kernels::openmp {

/// A row of output pixels of one vector of channels, and the rows of input and weights under it.
struct depthwise_row {
  const algorithm::convolution* form;
  const float* input;    ///< the block's plane, at the vector's lanes
  const float* weights;  ///< (tap, channel of the block), at the vector's lanes
  vec bias;
  std::int64_t y;
  float* output;  ///< the row, at the vector's lanes
  const epilogue* finish;
};

/// Computes pixels from x on, Stride apart in the input (0: the layer's stride). With `Border`, taps outside the input count
/// as zeros.
template <int Pixels, int Stride, bool Border, class F>
[[gnu::always_inline]] inline void depthwise_tile(const depthwise_row& r, std::int64_t x, const F& activation) {
  const auto& f = *r.form;
  const auto stride = Stride ? Stride : f.x.stride;
  vec sum[Pixels];
  DICE_UNROLL
  for (int p = 0; p < Pixels; ++p) sum[p] = r.bias;
  const float* weights = r.weights;
  for (std::int64_t ky = 0; ky < f.y.kernel; ++ky) {
    const auto y = r.y * f.y.stride + ky * f.y.dilation - f.y.pad;
    if (y < 0 || y >= f.y.in) {
      weights += f.x.kernel * block;
      continue;
    }
    auto at = x * stride - f.x.pad;
    for (std::int64_t kx = 0; kx < f.x.kernel; ++kx, at += f.x.dilation, weights += block) {
      const vec w = load(weights);
      const float* in = r.input + (y * f.x.in + at) * block;
      DICE_UNROLL
      for (int p = 0; p < Pixels; ++p) {
        if (Border && (at + p * stride < 0 || at + p * stride >= f.x.in)) continue;
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

/// Computes pixels [begin, end) of the row, in pieces of two sizes, the rest one by one. The last piece may overlap the one
/// before.
template <int Stride> DICE_SHARED void depthwise_pixels(const depthwise_row& r, std::int64_t begin, std::int64_t end) {
  constexpr int small = 7, large = platform::vector_registers >= 32 ? 14 : small;
  const auto& f = *r.form;
  // Pixels [first, last) have their window within the row.
  const auto first = (f.x.pad + f.x.stride - 1) / f.x.stride;
  const auto fits = f.x.in + f.x.pad - (f.x.kernel - 1) * f.x.dilation - 1;
  const auto last = fits < 0 ? 0 : fits / f.x.stride + 1;
  with_activation(
      *r.finish, [&](const auto& activation) __attribute__((always_inline)) {
        const auto piece = [&]<int Pixels>(std::int64_t x) __attribute__((always_inline)) {
          if (x >= first && x + Pixels <= last) depthwise_tile<Pixels, Stride, false>(r, x, activation);
          else depthwise_tile<Pixels, Stride, true>(r, x, activation);
        };
        auto x = begin;
        if constexpr (Stride > 0) {
          for (; x + large <= end; x += large) piece.template operator()<large>(x);
          if (const auto rest = end - x; rest > 0 && end - begin >= small) {
            if (rest > small) piece.template operator()<small>(x);
            piece.template operator()<small>(end - small);
            x = end;
          }
        }
        for (; x < end; ++x) piece.template operator()<1>(x);
      });
  finish_pixels(*r.finish, r.output + begin * block, static_cast<int>(end - begin), width);
}

/// All images and channels, as far as `w` goes. `packed`: weights (block, tap, channel), then the bias.
inline void convolve_depthwise(const algorithm::convolution& form, const window& w, const call& c, const epilogue& e) {
  const float* packed = reinterpret_cast<const float*>(c.packed);
  const auto row = form.x.stride == 1   ? &depthwise_pixels<1>
                   : form.x.stride == 2 ? &depthwise_pixels<2>
                                        : &depthwise_pixels<0>;
  const auto blocks = form.out_blocks(), taps = form.taps();
  const float* bias = packed + form.weight_elements();
  const auto planes = form.images * blocks;
  const auto from = c.plane(0, form.y.in * form.x.in * block), to = c.output_plane(form.y.out * form.x.out * block);
  parallel_rows(planes, w.rows(), planes * form.y.in * form.x.in * block * tensor::element_bytes > large_map,
                taps * w.columns() * block_vectors, [&](std::int64_t plane, std::int64_t begin, std::int64_t end) {
                  const auto b = plane % blocks;
                  for (auto y = w.top + begin; y < w.top + end; ++y)
                    for (int lane = 0; lane < block; lane += width)
                      row({.form = &form,
                           .input = c.inputs[0] + plane * from + lane,
                           .weights = packed + b * taps * block + lane,
                           .bias = load(bias + b * block + lane),
                           .y = y,
                           .output = c.output + plane * to + y * form.x.out * block + lane,
                           .finish = &e},
                          w.left, w.right);
                });
}

}  // namespace dice::kernels::openmp
