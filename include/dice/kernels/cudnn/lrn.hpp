#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::lrn> : cudnn::base<ops::lrn> {
  static void compute(const ops::lrn& op, graph::shapes in, const tensor::shape&, const call& c, const cudnn::ending& e) {
    cudnn::current->start(cudnn::lrn{c.output, c.inputs[0], cudnn::count(in[0][0]), cudnn::count(in[0][1]),
                                     cudnn::count(in[0].product(2, in[0].rank)), op.size, op.alpha, op.beta, op.bias, e});
  }
};

}  // namespace dice::kernels
