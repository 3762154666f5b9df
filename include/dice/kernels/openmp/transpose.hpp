#pragma once

#include "dice/kernels/openmp/detail/strided.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::transpose> : openmp::base<ops::transpose> {
  static void compute(const ops::transpose& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    openmp::strided view;
    for (int a = 0; a < result.rank; ++a) view.push_back(result[a], in[0].product(op.perm[a] + 1, in[0].rank));
    openmp::gather(c.output, c.inputs[0], view);
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
