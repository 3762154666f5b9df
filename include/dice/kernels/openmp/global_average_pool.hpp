#pragma once

#include "dice/kernels/openmp/reduce.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::global_average_pool> : openmp::base<ops::global_average_pool> {
  static void compute(const ops::global_average_pool&, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    ops::reduce pixels;
    for (std::size_t a = 2; a < pixels.over.size(); ++a) pixels.over[a] = true;
    kernel<openmp::backend, ops::reduce>::compute(pixels, in, result, c, e);
  }
};

}  // namespace dice::kernels
