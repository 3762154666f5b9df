#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/reference/detail/activation.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::cum_sum> : reference::base<ops::cum_sum> {
  static void compute(const ops::cum_sum& op, graph::shapes, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto n = result.elements(), extent = result[op.axis];
    for (std::int64_t i = 0; i < n; ++i) {
      auto p = detail::position(i, result);
      const auto k = p[op.axis];
      double total = 0;
      for (std::int64_t j = 0; j < extent; ++j) {
        if (op.reverse ? j < k : j > k) continue;
        if (j == k && op.exclusive) continue;
        p[op.axis] = j;
        total += c.inputs[0][detail::offset(p, result)];
      }
      c.output[i] = static_cast<float>(total);
    }
    e(c.output, n);
  }
};

}  // namespace dice::kernels
