#pragma once

#include "dice/kernels/cudnn/detail/gather.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::resize> : gpu::base<ops::resize> {
  static void compute(const ops::resize& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const gpu::ending& e) {
    auto p = gpu::gather_of(in[0], result, c, e);
    for (int a = 0; a < result.rank; ++a) p.divide[a] = gpu::count(op.factors[static_cast<std::size_t>(a)]);
    gpu::current->start(p);
  }
};

}  // namespace dice::kernels
