#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::sum> : cudnn::base<ops::sum> {
  static void compute(const ops::sum&, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    const auto last = in.size() - 1;
    if (last == 0) {
      cudnn::copy(c.output, c.inputs[0], result.elements());
      return cudnn::finish(c.output, result.elements(), e);
    }
    for (std::size_t k = 1; k <= last; ++k)
      cudnn::combine(c.output, k == 1 ? cudnn::operand{c.inputs[0], in[0]} : cudnn::operand{c.output, result},
                     {c.inputs[k], in[k]}, graph::arithmetic::add, result, last == k ? e : cudnn::ending{});
  }
};

}  // namespace dice::kernels
