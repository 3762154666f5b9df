#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::gather> : reference::base<ops::gather> {
  static void compute(const ops::gather& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto n = result.elements();
    const auto axis = op.axis;
    for (std::int64_t i = 0; i < n; ++i) {
      auto p = detail::position(i, result);
      p[axis] = detail::element_of(c.parameters[0][p[axis]], in[0][axis]);
      c.output[i] = c.inputs[0][detail::offset(p, in[0])];
    }
    e(c.output, n);
  }
};

}  // namespace dice::kernels
