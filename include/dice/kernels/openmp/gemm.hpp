#pragma once

#include "dice/kernels/openmp/detail/matrix.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::gemm> : host::base<ops::gemm> {
  static void compute(const ops::gemm& op, graph::shapes in, const tensor::shape&, const call& c,
                      const detail::epilogue& e) {
    host::multiply(c.inputs[0], c.parameters[0], op.bias ? c.parameters[1] : nullptr, c.output, in[0][0], op.columns,
                   op.depth, e);
  }
};

}  // namespace dice::kernels
