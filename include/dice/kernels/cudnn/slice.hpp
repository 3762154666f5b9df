#pragma once

#include "dice/kernels/cudnn/detail/gather.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::slice> : cudnn::base<ops::slice> {
  static void compute(const ops::slice& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    auto p = cudnn::gather_of(in[0], result, c, e);
    for (int a = 0; a < result.rank; ++a) {
      p.multiply[a] = cudnn::count(op.steps[a]);
      p.add[a] = cudnn::count(op.starts[a]);
    }
    cudnn::current->start(p);
  }
};

}  // namespace dice::kernels
