#pragma once

#include "dice/kernels/openmp/detail/strided.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::tile> : openmp::base<ops::tile> {
  static void compute(const ops::tile& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    openmp::strided view;
    for (int a = 0; a < result.rank; ++a) {
      view.push_back(op.repeats[a], 0);
      view.push_back(in[0][a], in[0].product(a + 1, in[0].rank));
    }
    openmp::gather(c.output, c.inputs[0], view);
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
