#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::sum> : gpu::base<ops::sum> {
  static void compute(const ops::sum&, graph::shapes in, const tensor::shape& result, const call& c, const gpu::ending& e) {
    const auto last = in.size() - 1;
    if (last == 0) {
      gpu::copy(c.output, c.inputs[0], result.elements());
      return gpu::finish(c.output, result.elements(), e);
    }
    for (std::size_t k = 1; k <= last; ++k)
      gpu::combine(c.output, k == 1 ? gpu::operand{c.inputs[0], in[0]} : gpu::operand{c.output, result},
                   {c.inputs[k], in[k]}, gpu::arithmetic::plus, result, last == k ? e : gpu::ending{});
  }
};

}  // namespace dice::kernels
