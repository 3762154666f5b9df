#pragma once

#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::batch_normalization> : reference::base<ops::batch_normalization> {
  static void compute(const ops::batch_normalization&, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto n = result.elements(), size = in[0].product(2, in[0].rank), channels = in[0][1];
    for (std::int64_t i = 0; i < n; ++i) {
      const auto channel = i / size % channels;
      c.output[i] = c.inputs[0][i] * c.parameters[0][channel] + c.parameters[1][channel];
    }
    e(c.output, n);
  }
};

}  // namespace dice::kernels
