#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::antialiased_resize> : cudnn::base<ops::antialiased_resize> {
  static void compute(const ops::antialiased_resize& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    const auto extent_in = in[0][op.axis], extent = result[op.axis];
    cudnn::current->start(cudnn::filter{c.output, c.inputs[0], cudnn::count(result.elements()), cudnn::count(extent),
                                        cudnn::count(extent_in), cudnn::count(result.product(op.axis + 1, result.rank)),
                                        op.first_out, op.first_in, op.sampled(extent_in, extent), e});
  }
};

}  // namespace dice::kernels
