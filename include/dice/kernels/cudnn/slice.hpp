#pragma once

#include "dice/kernels/cudnn/detail/gather.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::slice> : gpu::base<ops::slice> {
  static void compute(const ops::slice& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const gpu::ending& e) {
    auto p = gpu::gather_of(in[0], result, c, e);
    for (int a = 0; a < result.rank; ++a) {
      p.multiply[a] = gpu::count(op.steps[static_cast<std::size_t>(a)]);
      p.add[a] = gpu::count(op.starts[static_cast<std::size_t>(a)]);
    }
    gpu::current->start(p);
  }
};

}  // namespace dice::kernels
