#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels {

/// Nothing is fused with an activation, so that `e` is empty.
template <graph::activation_operator Op> struct kernel<cudnn::backend, Op> : cudnn::base<Op> {
  static void compute(const Op& op, graph::shapes, const tensor::shape& result, const call& c, const cudnn::ending& e) {
    using namespace cudnn;
    current->start(
        elements{c.output, c.inputs[0], count(result.elements()), nullptr, nullptr, 1, 1, ending_of(op.activation())});
    finish(c.output, result.elements(), e);
  }
};

}  // namespace dice::kernels
