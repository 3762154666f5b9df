#pragma once

#include "dice/kernels/cudnn/detail/gather.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::resize> : cudnn::base<ops::resize> {
  static void compute(const ops::resize& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    if (op.mode == ops::resizing::repeat) {
      auto p = cudnn::gather_of(in[0], result, c, e);
      for (int a = 0; a < result.rank; ++a) p.divide[a] = cudnn::count(op.factors[a]);
      return cudnn::current->start(p);
    }
    cudnn::resample p{};
    p.y = c.output;
    p.x = c.inputs[0];
    p.n = cudnn::count(result.elements());
    p.rank = result.rank;
    p.extrapolation = op.extrapolation;
    p.end = e;
    for (int a = 0; a < result.rank; ++a) {
      p.extent[a] = cudnn::count(result[a]);
      p.extent_in[a] = cudnn::count(in[0][a]);
      p.first_out[a] = cudnn::count(op.first_out[a]);
      p.first_in[a] = cudnn::count(op.first_in[a]);
      p.axis[a] = op.axis(a, in[0], result);
    }
    cudnn::current->start(p);
  }
};

}  // namespace dice::kernels
