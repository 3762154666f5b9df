#pragma once

#include "dice/kernels/cudnn/detail/pool.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::max_pool> : cudnn::base<ops::max_pool> {
  static void compute(const ops::max_pool& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    cudnn::pool_windows(op, in[0], result, c, cudnn::pooling::largest, e);
  }
};

}  // namespace dice::kernels
