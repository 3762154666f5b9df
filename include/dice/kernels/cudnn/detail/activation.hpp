#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels::cudnn {

/// y = op(x) for each element. Nothing is fused with an activation, so that `e` is empty.
template <class Op> struct activation_kernel : base<Op> {
  static void compute(const Op& op, graph::shapes in, const tensor::shape& result, const call& c, const ending& e) {
    current->start(elements{c.output, c.inputs[0], count(result.elements()), nullptr, nullptr, 1, 1,
                            ending_of(graph::fuses(op, in).function)});
    finish(c.output, result.elements(), e);
  }
};

}  // namespace dice::kernels::cudnn
