#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"
#include "dice/kernels/detail/operand.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::einsum> : cudnn::base<ops::einsum> {
  static void compute(const ops::einsum& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    cudnn::einsum p{.y = c.output,
                    .a = detail::operand_of(op, c, 0),
                    .b = detail::operand_of(op, c, 1),
                    .n = cudnn::count(result.elements()),
                    .rank = result.rank,
                    .extent = {},
                    .stride_a = {},
                    .stride_b = {},
                    .depth = cudnn::count(op.length(in)),
                    .depth_a = cudnn::count(op.depth_stride(0, in)),
                    .depth_b = cudnn::count(op.depth_stride(1, in)),
                    .factor = op.factor,
                    .end = e};
    for (int o = 0; o < result.rank; ++o) {
      p.extent[o] = cudnn::count(result[o]);
      p.stride_a[o] = cudnn::count(op.stride(0, o, in));
      p.stride_b[o] = cudnn::count(op.stride(1, o, in));
    }
    cudnn::current->start(p);
  }
};

}  // namespace dice::kernels
