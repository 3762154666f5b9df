#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::transpose> : reference::base<ops::transpose> {
  static void compute(const ops::transpose& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto n = result.elements();
    for (std::int64_t i = 0; i < n; ++i) {
      const auto p = detail::position(i, result);
      detail::index q;
      for (int a = 0; a < result.rank; ++a) q[op.perm[a]] = p[a];
      c.output[i] = c.inputs[0][detail::offset(q, in[0])];
    }
    e(c.output, n);
  }
};

}  // namespace dice::kernels
