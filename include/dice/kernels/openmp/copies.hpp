#pragma once

#include "dice/kernels/openmp/detail/copy.hpp"

#include <cstdint>

namespace dice::kernels {

template <graph::copy_operator Op> struct kernel<openmp::backend, Op> : openmp::base<Op> {
  static void compute(const Op&, graph::shapes, const tensor::shape& result, const call& c, const detail::epilogue& e) {
    openmp::parallel_elements(tensor::elements(result, c.result), [&](std::int64_t a, std::int64_t b) {
      if (c.output != c.inputs[0]) openmp::copy(c.output + a, c.inputs[0] + a, b - a);
      e(c.output + a, b - a);
    });
  }
};

}  // namespace dice::kernels
