#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::softmax> : cudnn::base<ops::softmax> {
  static void compute(const ops::softmax& op, graph::shapes in, const tensor::shape&, const call& c,
                      const cudnn::ending& e) {
    cudnn::current->start(cudnn::softmax{c.output, c.inputs[0], cudnn::count(in[0].product(0, op.first)),
                                         cudnn::count(in[0].product(op.first, op.last)),
                                         cudnn::count(in[0].product(op.last, in[0].rank)), op.log, e});
  }
};

}  // namespace dice::kernels
