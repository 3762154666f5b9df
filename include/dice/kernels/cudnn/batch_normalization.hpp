#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::batch_normalization> : gpu::base<ops::batch_normalization> {
  static void compute(const ops::batch_normalization&, graph::shapes in, const tensor::shape& result, const call& c,
                      const gpu::ending& e) {
    gpu::current->start(gpu::elements{c.output, c.inputs[0], gpu::count(result.elements()), c.parameters[0], c.parameters[1],
                                      gpu::count(in[0][1]), gpu::count(in[0].product(2, in[0].rank)), e});
  }
};

}  // namespace dice::kernels
