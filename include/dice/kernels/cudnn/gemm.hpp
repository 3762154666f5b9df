#pragma once

#include "dice/kernels/cudnn/detail/matrix.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::gemm> : gpu::base<ops::gemm> {
  static void compute(const ops::gemm& op, graph::shapes in, const tensor::shape&, const call& c, const gpu::ending& e) {
    gpu::multiply(c, op.bias ? c.parameters[1] : nullptr, in[0][0], op.columns, op.depth, e);
  }
};

}  // namespace dice::kernels
