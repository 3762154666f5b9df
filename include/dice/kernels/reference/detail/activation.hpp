#pragma once

#include "dice/kernels/detail/epilogue.hpp"

#include <cstdint>

namespace dice::kernels::plain {

/// Namespace of what the reference kernels share. `base<Op>` gives a kernel its run().
template <class Op> using base = detail::thin<kernel<reference, Op>, false>;

/// y = op(x) for each element.
template <class Op> struct activation_kernel : base<Op> {
  static void compute(const Op& op, graph::shapes, const tensor::shape& result, const call& c, const detail::epilogue& e) {
    const auto n = result.elements();
    for (std::int64_t i = 0; i < n; ++i) c.output[i] = apply(op, c.inputs[0][i]);
    e(c.output, n);
  }
};

}  // namespace dice::kernels::plain
