#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::batch_normalization> : cudnn::base<ops::batch_normalization> {
  static void compute(const ops::batch_normalization&, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    cudnn::current->start(cudnn::elements{c.output, c.inputs[0], cudnn::count(result.elements()), c.parameters[0],
                                          c.parameters[1], cudnn::count(in[0][1]),
                                          cudnn::count(in[0].product(2, in[0].rank)), e});
  }
};

}  // namespace dice::kernels
