#pragma once

#include "dice/kernels/detail/epilogue.hpp"
#include "dice/model/ops.hpp"

#include <cstdint>

namespace dice::kernels::plain {

/// Namespace of what the reference kernels share. `base<Op>` gives a kernel its run().
template <class Op> using base = detail::kernel_entry<kernel<reference, Op>, Op, false>;

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

}  // namespace dice::kernels::plain
