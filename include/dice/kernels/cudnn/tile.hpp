#pragma once

#include "dice/kernels/cudnn/detail/gather.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::tile> : cudnn::base<ops::tile> {
  static void compute(const ops::tile&, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    auto p = cudnn::gather_of(in[0], result, c, e);
    p.outside = cudnn::beyond::wrap;
    cudnn::current->start(p);
  }
};

}  // namespace dice::kernels
