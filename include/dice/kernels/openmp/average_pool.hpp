#pragma once

#include "dice/kernels/detail/arithmetic.hpp"
#include "dice/kernels/openmp/detail/pool.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::average_pool> : openmp::base<ops::average_pool> {
  static void compute(const ops::average_pool& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    openmp::pool<detail::plus>(op, in[0], result, c, e, 0, op.count_include_pad,
                               [](detail::vec sum, float scale) { return sum * scale; });
  }
};

}  // namespace dice::kernels
