#pragma once

#include "dice/kernels/cudnn/detail/gather.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::resize> : cudnn::base<ops::resize> {
  static void compute(const ops::resize& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    auto p = cudnn::gather_of(in[0], result, c, e);
    for (int a = 0; a < result.rank; ++a) p.divide[a] = cudnn::count(op.factors[a]);
    cudnn::current->start(p);
  }
};

}  // namespace dice::kernels
