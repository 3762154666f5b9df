#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::gather> : cudnn::base<ops::gather> {
  static void compute(const ops::gather& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    cudnn::current->start(cudnn::pick{.y = c.output,
                                      .x = c.inputs[0],
                                      .indices = c.parameters[0],
                                      .n = cudnn::count(result.elements()),
                                      .extent = cudnn::count(op.count),
                                      .extent_in = cudnn::count(in[0][op.axis]),
                                      .inner = cudnn::count(result.product(op.axis + 1, result.rank)),
                                      .end = e});
  }
};

}  // namespace dice::kernels
