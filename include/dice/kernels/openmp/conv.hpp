#pragma once

#include "dice/kernels/openmp/detail/base.hpp"
#include "dice/kernels/openmp/detail/convolution.hpp"
#include "dice/kernels/openmp/detail/depthwise.hpp"
#include "dice/kernels/openmp/detail/winograd.hpp"

#include <cstddef>

namespace dice::kernels {

template <> struct kernel<openmp, ops::conv> : host::base<ops::conv> {
  using form = cost::convolution;

  /// By Winograd's algorithm where that is faster (cost::winograd), else directly.
  static void prepare(const ops::conv& op, graph::shapes in, const tensor::shape& result, int, source from,
                      std::byte* to) {
    if (const auto w = cost::winograd::best(op, in[0], result); w.pairs > 0)
      host::transform_weights(w, from, op.bias, reinterpret_cast<float*>(to));
    else prepare_direct(op, in, result, from, to);
  }
  static void compute(const ops::conv& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    if (const auto w = cost::winograd::best(op, in[0], result); w.pairs > 0) host::convolve(w, c, e);
    else compute_direct(op, in, result, c, e);
  }

  /// Weights as (group, panel, input channel, tap, output channel of the panel), then the bias, both padded with zeros.
  static void prepare_direct(const ops::conv& op, graph::shapes in, const tensor::shape& result, source from,
                             std::byte* to) {
    const form f(op, in[0], result);
    constexpr auto panel = form::panel;
    float* w = reinterpret_cast<float*>(to);
    float* bias = w + f.weight_elements();
    const auto depth = f.group_channels * f.taps();
    for (std::int64_t p = 0; p < f.groups * f.panels; ++p) {
      const auto first = p % f.panels * panel, rows = std::min(panel, f.group_outputs - first);
      const auto channel = p / f.panels * f.group_outputs + first;
      for (std::int64_t k = 0; k < depth; ++k, w += panel)
        for (std::int64_t r = 0; r < panel; ++r) w[r] = r < rows ? from[0][(channel + r) * depth + k] : 0;
      for (std::int64_t r = 0; r < panel; ++r) *bias++ = op.bias && r < rows ? from[1][channel + r] : 0;
    }
  }

  static void compute_direct(const ops::conv& op, graph::shapes in, const tensor::shape& result, const call& c,
                             const detail::epilogue& e) {
    const form f(op, in[0], result);
    // The scratch: offsets of the taps, then the padded input. Without scratch there is one tap, at 0.
    const std::ptrdiff_t zero = 0;
    const std::ptrdiff_t* taps = &zero;
    float* padded = nullptr;
    if (!f.reads_in_place) {
      auto* table = reinterpret_cast<std::ptrdiff_t*>(c.scratch);
      for (std::int64_t ky = 0, t = 0; ky < f.y.kernel; ++ky)
        for (std::int64_t kx = 0; kx < f.x.kernel; ++kx, ++t) table[t] = f.tap(ky, kx);
      taps = table;
      padded = reinterpret_cast<float*>(c.scratch + f.table_bytes());
    }
    if (f.depthwise) host::depthwise(f, c.inputs[0], padded, taps, c.parameters[0], op.bias ? c.parameters[1] : nullptr, e);
    else dense(f, c, padded, taps, e);
  }

 private:
  static void dense(const form& f, const call& c, float* padded, const std::ptrdiff_t* taps, const detail::epilogue& e) {
    const float* weights = reinterpret_cast<const float*>(c.packed);
    const float* bias = weights + f.weight_elements();
    const auto size = f.y.in * f.x.in, outputs = f.out_channels * f.y.out * f.x.out;
    const auto work = outputs * f.group_channels * f.taps() / detail::width;
    const int threads = host::threads_for(work, work);
    team::run(threads, [&](std::int64_t t, std::int64_t n) {
      for (std::int64_t image = 0; image < f.images; ++image)
        for (std::int64_t first = 0; first < f.y.out; first += f.band) {
          const float* input = c.inputs[0] + image * f.channels * size;
          const auto rows = std::min(f.band, f.y.out - first);
          if (padded) {
            for (auto k = f.channels * t / n; k < f.channels * (t + 1) / n; ++k)
              host::pad_channel(f, first, rows, input + k * size, padded + k * f.plane);
#pragma omp barrier
          }
          host::convolve({.form = &f,
                          .input = padded ? padded : input,
                          .weights = weights,
                          .bias = bias,
                          .taps = taps,
                          .output = c.output + image * outputs,
                          .first_row = first,
                          .rows = rows,
                          .finish = &e},
                         t, n);
          if (padded) {  // before the next band overwrites it
#pragma omp barrier
          }
        }
    });
  }
};

}  // namespace dice::kernels
