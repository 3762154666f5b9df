#pragma once

#include "dice/kernels/reference/detail/matrix.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::gemm> : reference::base<ops::gemm> {
  static void compute(const ops::gemm& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    reference::multiply(c.inputs[0], c.parameters[0], op.bias ? c.parameters[1] : nullptr, c.output, in[0][0], op.columns,
                        op.depth);
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
