#pragma once

#include "dice/graph/ops.hpp"
#include "dice/kernels/detail/epilogue.hpp"
#include "dice/kernels/reference/operators.hpp"

#include <cstdint>

namespace dice::kernels::reference {

/// What every kernel of the backend derives from (kernels/kernel.hpp).
template <class Op> struct base {
  using op_type = Op;
  using execution = detail::plain_execution<false>;
};

/// y = op(x) for each element.
template <class Op> struct activation_kernel : base<Op> {
  static void compute(const Op& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto n = result.elements();
    auto own = detail::epilogue_of<false>(graph::fuses(op, in).function);
    own({.to = c.output, .from = c.inputs[0], .columns = n});
    e(c.output, n);
  }
};

}  // namespace dice::kernels::reference
