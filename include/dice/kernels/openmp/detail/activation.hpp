#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

#include <cstdint>

namespace dice::kernels::host {

/// y = op(x) for each element.
template <class Op> struct activation_kernel : base<Op> {
  static void compute(const Op& op, graph::shapes, const tensor::shape& result, const call& c, const epilogue& e) {
    parallel_elements(tensor::elements(result, c.result), [&](std::int64_t a, std::int64_t b) {
      const epilogue own{.output = c.output, .activation = &op, .write = &write_vectors<Op>};
      own({.to = c.output + a, .from = c.inputs[0] + a, .columns = b - a});
      e(c.output + a, b - a);
    });
  }
};

}  // namespace dice::kernels::host
