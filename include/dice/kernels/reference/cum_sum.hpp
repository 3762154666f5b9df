#pragma once

#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::cum_sum> : reference::base<ops::cum_sum> {
  static void compute(const ops::cum_sum& op, graph::shapes, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto n = result.elements(), extent = result[op.axis], inner = result.product(op.axis + 1, result.rank);
    for (std::int64_t i = 0; i < n / extent; ++i) {
      double total = 0;
      for (std::int64_t k = 0; k < extent; ++k) {
        const auto at = (i / inner * extent + (op.reverse ? extent - 1 - k : k)) * inner + i % inner;
        const double x = c.inputs[0][at];
        c.output[at] = static_cast<float>(op.exclusive ? total : total + x);
        total += x;
      }
    }
    e(c.output, n);
  }
};

}  // namespace dice::kernels
