#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::normalization> : cudnn::base<ops::normalization> {
  static void compute(const ops::normalization& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    cudnn::normalization p{.y = c.output,
                           .x = c.inputs[0],
                           .scale = op.scale ? c.parameters[0] : nullptr,
                           .bias = op.bias ? c.parameters[op.scale] : nullptr,
                           .outer = cudnn::count(in[0].product(0, op.first)),
                           .size = cudnn::count(in[0].product(op.first, op.last)),
                           .inner = cudnn::count(in[0].product(op.last, in[0].rank)),
                           .by = dividing_of(op.how),
                           .epsilon = op.epsilon,
                           .rank = 0,
                           .extent = {},
                           .stride_scale = {},
                           .stride_bias = {},
                           .end = e};
    cudnn::broadcast(result, op.scale ? op.scale_shape : tensor::shape{}, op.bias ? op.bias_shape : tensor::shape{}, p.rank,
                     p.extent, p.stride_scale, p.stride_bias);
    cudnn::current->start(p);
  }

 private:
  static cudnn::dividing dividing_of(ops::normalizing how) {
    return how == ops::normalizing::rms  ? cudnn::dividing::root_mean_square
           : how == ops::normalizing::l1 ? cudnn::dividing::l1
           : how == ops::normalizing::l2 ? cudnn::dividing::l2
                                         : cudnn::dividing::deviation;
  }
};

}  // namespace dice::kernels
