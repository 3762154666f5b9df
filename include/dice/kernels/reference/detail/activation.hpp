#pragma once

#include "dice/graph/ops.hpp"
#include "dice/kernels/detail/epilogue.hpp"
#include "dice/kernels/reference/operators.hpp"

#include <cstdint>

namespace dice::kernels::reference {

/// Namespace of what the reference kernels share. `base<Op>` gives a kernel its run().
template <class Op> using base = detail::kernel_entry<kernel<reference::backend, Op>, Op, false>;

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
