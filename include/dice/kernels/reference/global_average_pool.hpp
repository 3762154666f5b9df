#pragma once

#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::global_average_pool> : reference::base<ops::global_average_pool> {
  static void compute(const ops::global_average_pool&, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto planes = in[0].product(0, 2), size = in[0].product(2, in[0].rank);
    for (std::int64_t p = 0; p < planes; ++p) {
      double total = 0;
      for (std::int64_t i = 0; i < size; ++i) total += c.inputs[0][p * size + i];
      c.output[p] = static_cast<float>(total / static_cast<double>(size));
    }
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
