#pragma once

#include "dice/kernels/cudnn/detail/gather.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::transpose> : gpu::base<ops::transpose> {
  static void compute(const ops::transpose& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const gpu::ending& e) {
    auto p = gpu::gather_of(in[0], result, c, e);
    for (int a = 0; a < result.rank; ++a) {
      const int from = op.perm[static_cast<std::size_t>(a)];
      p.inside[a] = gpu::count(in[0][from]), p.stride[a] = gpu::count(in[0].product(from + 1, in[0].rank));
    }
    gpu::current->start(p);
  }
};

}  // namespace dice::kernels
