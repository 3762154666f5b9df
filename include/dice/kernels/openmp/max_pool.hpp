#pragma once

#include "dice/kernels/openmp/detail/pool.hpp"

#include <limits>

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::max_pool> : openmp::base<ops::max_pool> {
  struct join {
    detail::vec operator()(detail::vec a, detail::vec b) const { return detail::larger(a, b); }
  };
  static void compute(const ops::max_pool& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    openmp::pool<join>(op, in[0], result, c, e, -std::numeric_limits<float>::infinity(), false,
                       [](detail::vec largest, float) { return largest; });
  }
};

}  // namespace dice::kernels
