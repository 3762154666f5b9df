#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels {

/// An input that is already at its place in the output is not copied.
template <> struct kernel<cudnn::backend, ops::concat> : cudnn::base<ops::concat> {
  static void compute(const ops::concat& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const cudnn::ending& e) {
    const auto outer = result.product(0, op.axis), row = result.elements() / outer;
    float* to = c.output;
    for (std::size_t k = 0; k < in.size(); ++k) {
      const auto part = in[k].elements() / outer;
      if (outer > 1)
        cudnn::current->start(cudnn::rows{to, c.inputs[k], cudnn::count(outer), cudnn::count(part), cudnn::count(row)});
      else if (to != c.inputs[k]) cudnn::copy(to, c.inputs[k], part);
      to += part;
    }
    cudnn::finish(c.output, result.elements(), e);
  }
};

}  // namespace dice::kernels
