#pragma once

#include "dice/kernels/reference/detail/matrix.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::mat_mul> : reference::base<ops::mat_mul> {
  static void compute(const ops::mat_mul& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    reference::multiply(c.inputs[0], c.parameters[0], op.bias ? c.parameters[1] : nullptr, c.output,
                        in[0].product(0, in[0].rank - 1), op.columns, op.depth);
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
