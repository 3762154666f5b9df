#pragma once

#include "dice/kernels/openmp/detail/matrix.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::mat_mul> : openmp::base<ops::mat_mul> {
  static void compute(const ops::mat_mul& op, graph::shapes in, const tensor::shape&, const call& c,
                      const detail::epilogue& e) {
    openmp::multiply(c.inputs[0], c.parameters[0], nullptr, c.output, in[0].product(0, in[0].rank - 1), op.columns, op.depth,
                     e);
  }
};

}  // namespace dice::kernels
