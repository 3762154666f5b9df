#pragma once

#include "dice/kernels/openmp/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::sum> : openmp::base<ops::sum> {
  static void compute(const ops::sum&, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const detail::epilogue none{.output = c.output};
    const auto last = in.size() - 1;
    if (last == 0) {
      const float zero = 0;
      openmp::binary<detail::plus>(c, {c.inputs[0], in[0]}, {&zero, {}}, result, e);
      return;
    }
    openmp::binary<detail::plus>(c, {c.inputs[0], in[0]}, {c.inputs[1], in[1]}, result, last == 1 ? e : none);
    for (std::size_t k = 2; k <= last; ++k)
      openmp::binary<detail::plus>(c, {c.output, result}, {c.inputs[k], in[k]}, result, last == k ? e : none);
  }
};

}  // namespace dice::kernels
