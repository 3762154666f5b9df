#pragma once

#include "dice/kernels/reference/detail/base.hpp"

#include <cmath>
#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::lrn> : reference::base<ops::lrn> {
  static void compute(const ops::lrn& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const std::int64_t channels = in[0][1], size = in[0].product(2, in[0].rank);
    for (std::int64_t n = 0; n < in[0][0]; ++n)
      for (std::int64_t k = 0; k < channels; ++k)
        for (std::int64_t i = 0; i < size; ++i) {
          const float* x = c.inputs[0] + n * channels * size + i;
          double squares = 0;
          for (auto j = std::max<std::int64_t>(0, k - (op.size - 1) / 2); j <= std::min(channels - 1, k + op.size / 2); ++j)
            squares += static_cast<double>(x[j * size]) * x[j * size];
          const double scale = op.bias + static_cast<double>(op.alpha) / op.size * squares;
          c.output[(n * channels + k) * size + i] = static_cast<float>(x[k * size] / std::pow(scale, double{op.beta}));
        }
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
