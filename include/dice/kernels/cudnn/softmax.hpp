#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::softmax> : gpu::base<ops::softmax> {
  static void compute(const ops::softmax& op, graph::shapes in, const tensor::shape&, const call& c, const gpu::ending& e) {
    gpu::current->start(gpu::softmax{c.output, c.inputs[0], gpu::count(in[0].product(0, op.first)),
                                     gpu::count(in[0].product(op.first, op.last)),
                                     gpu::count(in[0].product(op.last, in[0].rank)), e});
  }
};

}  // namespace dice::kernels
