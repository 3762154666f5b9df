#pragma once

#include "dice/kernels/reference/detail/base.hpp"

namespace dice::kernels {

template <graph::activation_operator Op> struct kernel<reference::backend, Op> : reference::base<Op> {
  static void compute(const Op& op, graph::shapes, const tensor::shape& result, const call& c, const detail::epilogue& e) {
    const auto n = result.elements();
    auto own = detail::epilogue_of<false>(op.activation());
    own({.to = c.output, .from = c.inputs[0], .columns = n});
    e(c.output, n);
  }
};

}  // namespace dice::kernels
