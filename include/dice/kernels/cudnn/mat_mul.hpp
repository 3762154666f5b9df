#pragma once

#include "dice/kernels/cudnn/detail/matrix.hpp"
#include "dice/kernels/cudnn/half_precision.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::mat_mul> : cudnn::base<ops::mat_mul> {
  static void prepare(const ops::mat_mul& op, graph::shapes, const tensor::shape&, int variant, floats from, std::byte* to) {
    cudnn::prepare_half(op, cudnn::is_bf16(variant), from, to);
  }
  static void compute(const ops::mat_mul& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    if (cudnn::is_half(c.how.variant)) return cudnn::multiply_half(op, result, c, e);
    cudnn::multiply(c, op.bias ? c.parameters[1] : nullptr, in[0].product(0, in[0].rank - 1), op.columns, op.depth, e);
  }
};

}  // namespace dice::kernels
