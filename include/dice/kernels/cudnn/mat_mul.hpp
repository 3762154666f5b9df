#pragma once

#include "dice/kernels/cudnn/detail/matrix.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::mat_mul> : cudnn::base<ops::mat_mul> {
  static void compute(const ops::mat_mul& op, graph::shapes in, const tensor::shape&, const call& c,
                      const cudnn::ending& e) {
    cudnn::multiply(c, op.bias ? c.parameters[1] : nullptr, in[0].product(0, in[0].rank - 1), op.columns, op.depth, e);
  }
};

}  // namespace dice::kernels
