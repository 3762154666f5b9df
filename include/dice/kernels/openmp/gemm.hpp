#pragma once

#include "dice/kernels/openmp/detail/matrix.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::gemm> : openmp::base<ops::gemm> {
  static void compute(const ops::gemm& op, graph::shapes in, const tensor::shape&, const call& c,
                      const detail::epilogue& e) {
    openmp::multiply(c.inputs[0], c.parameters[0], op.bias ? c.parameters[1] : nullptr, c.output, in[0][0], op.columns,
                     op.depth, e);
  }
};

}  // namespace dice::kernels
