#pragma once

#include "dice/kernels/cudnn/detail/pool.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::max_pool> : gpu::base<ops::max_pool> {
  static void compute(const ops::max_pool& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const gpu::ending& e) {
    gpu::pool_windows(op, in[0], result, c, gpu::pooling::largest, e);
  }
};

}  // namespace dice::kernels
