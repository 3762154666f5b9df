#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::lrn> : gpu::base<ops::lrn> {
  static void compute(const ops::lrn& op, graph::shapes in, const tensor::shape&, const call& c, const gpu::ending& e) {
    gpu::current->start(gpu::lrn{c.output, c.inputs[0], gpu::count(in[0][0]), gpu::count(in[0][1]),
                                 gpu::count(in[0].product(2, in[0].rank)), op.size, op.alpha, op.beta, op.bias, e});
  }
};

}  // namespace dice::kernels
