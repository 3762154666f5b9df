#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <graph::activation_operator Op> struct kernel<openmp::backend, Op> : openmp::base<Op> {
  static void compute(const Op& op, graph::shapes, const tensor::shape& result, const call& c, const detail::epilogue& e) {
    auto own = detail::epilogue_of<true>(op.activation());
    own.output = c.output;
    openmp::parallel_elements(tensor::elements(result, c.result), [&](std::int64_t a, std::int64_t b) {
      own({.to = c.output + a, .from = c.inputs[0] + a, .columns = b - a});
      e(c.output + a, b - a);
    });
  }
};

}  // namespace dice::kernels
