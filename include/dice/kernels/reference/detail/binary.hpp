#pragma once

#include "dice/kernels/detail/arithmetic.hpp"
#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels::reference {

/// Element of `x` (shape `s`) that broadcasting puts at position `p` of a tensor of `rank` axes.
inline float broadcast(const float* x, const tensor::shape& s, const detail::index& p, int rank) {
  detail::index q;
  for (int a = 0; a < s.rank; ++a) q[a] = s[a] == 1 ? 0 : p[a + rank - s.rank];
  return x[detail::offset(q, s)];
}

/// y = f(a, b) with broadcasting, a and b in the operator's order.
template <graph::arithmetic Function> struct binary_kernel : base<ops::binary<Function>> {
  using F = detail::combined<Function>;
  static void compute(const ops::binary<Function>& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const float* x[2] = {c.inputs[0], op.which == ops::constant::none ? c.inputs[1] : c.parameters[0]};
    tensor::shape s[2] = {in[0], op.which == ops::constant::none ? in[1] : op.fixed};
    if (op.which == ops::constant::first) {
      std::swap(x[0], x[1]);
      std::swap(s[0], s[1]);
    }
    const auto n = result.elements();
    for (std::int64_t i = 0; i < n; ++i) {
      const auto p = detail::position(i, result);
      c.output[i] = F{}(broadcast(x[0], s[0], p, result.rank), broadcast(x[1], s[1], p, result.rank));
    }
    e(c.output, n);
  }
};

}  // namespace dice::kernels::reference
