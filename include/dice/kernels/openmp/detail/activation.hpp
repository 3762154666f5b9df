#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

#include <cstdint>

namespace dice::kernels::openmp {

/// y = op(x) for each element.
template <class Op> struct activation_kernel : base<Op> {
  static void compute(const Op& op, graph::shapes in, const tensor::shape& result, const call& c, const epilogue& e) {
    auto own = epilogue_of<true>(graph::fuses(op, in).function);
    own.output = c.output;
    parallel_elements(tensor::elements(result, c.result), [&](std::int64_t a, std::int64_t b) {
      own({.to = c.output + a, .from = c.inputs[0] + a, .columns = b - a});
      e(c.output + a, b - a);
    });
  }
};

}  // namespace dice::kernels::openmp
