#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::cum_sum> : cudnn::base<ops::cum_sum> {
  static void compute(const ops::cum_sum& op, graph::shapes, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    cudnn::current->start(cudnn::cumulate{.y = c.output,
                                          .x = c.inputs[0],
                                          .outer = cudnn::count(result.product(0, op.axis)),
                                          .extent = cudnn::count(result[op.axis]),
                                          .inner = cudnn::count(result.product(op.axis + 1, result.rank)),
                                          .exclusive = op.exclusive,
                                          .reverse = op.reverse,
                                          .end = e});
  }
};

}  // namespace dice::kernels
