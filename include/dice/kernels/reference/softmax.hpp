#pragma once

#include "dice/kernels/reference/detail/base.hpp"

#include <cmath>
#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::softmax> : reference::base<ops::softmax> {
  static void compute(const ops::softmax& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto outer = in[0].product(0, op.first), size = in[0].product(op.first, op.last);
    const auto inner = in[0].product(op.last, in[0].rank);
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t j = 0; j < inner; ++j) {
        const float* x = c.inputs[0] + o * size * inner + j;
        float* y = c.output + o * size * inner + j;
        float top = x[0];
        for (std::int64_t i = 1; i < size; ++i) top = std::max(top, x[i * inner]);
        double total = 0;
        for (std::int64_t i = 0; i < size; ++i) total += std::exp(static_cast<double>(x[i * inner]) - top);
        for (std::int64_t i = 0; i < size; ++i)
          y[i * inner] = static_cast<float>(op.log ? static_cast<double>(x[i * inner]) - top - std::log(total)
                                                   : std::exp(static_cast<double>(x[i * inner]) - top) / total);
      }
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
