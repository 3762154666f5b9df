#pragma once

#include "dice/kernels/cudnn/detail/gather.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::transpose> : cudnn::base<ops::transpose> {
  static void compute(const ops::transpose& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    auto p = cudnn::gather_of(in[0], result, c, e);
    for (int a = 0; a < result.rank; ++a) {
      const int from = op.perm[a];
      p.inside[a] = cudnn::count(in[0][from]);
      p.stride[a] = cudnn::count(in[0].product(from + 1, in[0].rank));
    }
    cudnn::current->start(p);
  }
};

}  // namespace dice::kernels
