#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::slice> : reference::base<ops::slice> {
  static void compute(const ops::slice& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto n = result.elements();
    for (std::int64_t i = 0; i < n; ++i) {
      auto p = detail::position(i, result);
      for (int a = 0; a < result.rank; ++a) p[a] = op.starts[a] + p[a] * op.steps[a];
      c.output[i] = c.inputs[0][detail::offset(p, in[0])];
    }
    e(c.output, n);
  }
};

}  // namespace dice::kernels
