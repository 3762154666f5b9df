#pragma once

#include "dice/kernels/cudnn/detail/gather.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::pad> : cudnn::base<ops::pad> {
  static void compute(const ops::pad& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    auto p = cudnn::gather_of(in[0], result, c, e);
    for (int a = 0; a < result.rank; ++a) p.add[a] = -cudnn::count(op.before[a]);
    p.value = op.value;
    p.outside = op.mode == ops::padding::edge      ? cudnn::beyond::edge
                : op.mode == ops::padding::reflect ? cudnn::beyond::reflect
                : op.mode == ops::padding::wrap    ? cudnn::beyond::wrap
                                                   : cudnn::beyond::value;
    cudnn::current->start(p);
  }
};

}  // namespace dice::kernels
