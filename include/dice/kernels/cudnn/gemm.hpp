#pragma once

#include "dice/kernels/cudnn/detail/matrix.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::gemm> : cudnn::base<ops::gemm> {
  static void compute(const ops::gemm& op, graph::shapes in, const tensor::shape&, const call& c, const cudnn::ending& e) {
    cudnn::multiply(c, op.bias ? c.parameters[1] : nullptr, in[0][0], op.columns, op.depth, e);
  }
};

}  // namespace dice::kernels
