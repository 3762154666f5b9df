#pragma once

#include "dice/kernels/cudnn/detail/gather.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::pad> : gpu::base<ops::pad> {
  static void compute(const ops::pad& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const gpu::ending& e) {
    auto p = gpu::gather_of(in[0], result, c, e);
    for (int a = 0; a < result.rank; ++a) p.add[a] = -gpu::count(op.before[static_cast<std::size_t>(a)]);
    p.value = op.value;
    p.outside = op.mode == ops::padding::edge      ? gpu::beyond::edge
                : op.mode == ops::padding::reflect ? gpu::beyond::reflect
                                                   : gpu::beyond::value;
    gpu::current->start(p);
  }
};

}  // namespace dice::kernels
