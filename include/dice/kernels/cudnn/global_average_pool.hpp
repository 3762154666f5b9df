#pragma once

#include "dice/kernels/cudnn/reduce.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::global_average_pool> : cudnn::base<ops::global_average_pool> {
  static void compute(const ops::global_average_pool&, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    ops::reduce pixels;
    for (std::size_t a = 2; a < pixels.over.size(); ++a) pixels.over[a] = true;
    kernel<cudnn::backend, ops::reduce>::compute(pixels, in, result, c, e);
  }
};

}  // namespace dice::kernels
