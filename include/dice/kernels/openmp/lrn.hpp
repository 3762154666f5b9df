#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

#include <cmath>
#include <cstdint>

namespace dice::kernels {

namespace openmp {

/// v to the power -beta; by square roots for the exponent that networks use.
inline vec inverse_power(vec v, float beta) {
  float lane[width];
  store(lane, v);
  if (beta == 0.75f) {
    float root[width], fourth[width];
    for (int i = 0; i < width; ++i) root[i] = std::sqrt(lane[i]);
    for (int i = 0; i < width; ++i) fourth[i] = std::sqrt(root[i]);
    return 1.0f / (load(root) * load(fourth));
  }
  for (float& x : lane) x = std::pow(x, -beta);
  return load(lane);
}

}  // namespace openmp

template <> struct kernel<openmp::backend, ops::lrn> : openmp::base<ops::lrn> {
  static void compute(const ops::lrn& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    using namespace detail;
    const std::int64_t channels = in[0][1], size = in[0].product(2, in[0].rank);
    const float scale = op.alpha / static_cast<float>(op.size);
    openmp::parallel_for(in[0][0] * channels, (op.size + 16) * size, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; ++row) {
        const auto k = row % channels;
        const auto first = std::max<std::int64_t>(0, k - (op.size - 1) / 2), stop = std::min(channels, k + op.size / 2 + 1);
        const float* image = c.inputs[0] + (row - k) * size;
        float* to = c.output + row * size;
        for (std::int64_t i = 0; i < size; i += width) {
          const auto n = std::min<std::int64_t>(width, size - i);
          const auto get = [&](std::int64_t channel) {
            const float* p = image + channel * size + i;
            return n == width ? load(p) : load_first(p, n);
          };
          vec squares{};
          for (auto j = first; j < stop; ++j) {
            const vec x = get(j);
            squares = fma(x, x, squares);
          }
          const vec y = get(k) * openmp::inverse_power(fma(squares, splat(scale), splat(op.bias)), op.beta);
          n == width ? store(to + i, y) : store_first(to + i, y, n);
        }
      }
    });
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
