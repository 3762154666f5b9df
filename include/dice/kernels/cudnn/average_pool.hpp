#pragma once

#include "dice/kernels/cudnn/detail/pool.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::average_pool> : cudnn::base<ops::average_pool> {
  static void compute(const ops::average_pool& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    cudnn::pool_windows(op, in[0], result, c,
                        op.count_include_pad ? cudnn::pooling::mean_padded : cudnn::pooling::mean_inside, e);
  }
};

}  // namespace dice::kernels
