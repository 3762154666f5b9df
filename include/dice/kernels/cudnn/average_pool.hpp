#pragma once

#include "dice/kernels/cudnn/detail/pool.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::average_pool> : gpu::base<ops::average_pool> {
  static void compute(const ops::average_pool& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const gpu::ending& e) {
    gpu::pool_windows(op, in[0], result, c, op.count_include_pad ? gpu::pooling::mean_padded : gpu::pooling::mean_inside, e);
  }
};

}  // namespace dice::kernels
