#pragma once

#include "dice/kernels/openmp/detail/strided.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::slice> : openmp::base<ops::slice> {
  static void compute(const ops::slice& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    openmp::strided view;
    const float* from = c.inputs[0];
    for (int a = 0; a < result.rank; ++a) {
      const auto stride = in[0].product(a + 1, in[0].rank);
      from += op.starts[a] * stride;
      view.push_back(result[a], op.steps[a] * stride);
    }
    openmp::gather(c.output, from, view);
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
