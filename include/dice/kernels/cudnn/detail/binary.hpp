#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels::cudnn {

/// An operand of a binary operator.
struct operand {
  const float* at;
  const tensor::shape& shape;
};

/// y = a op b with broadcasting to `result`. Adjacent axes along which both continue with an even stride are merged.
inline void combine(float* y, const operand& a, const operand& b, arithmetic op, const tensor::shape& result,
                    const ending& e) {
  binary p{.y = y,
           .a = a.at,
           .b = b.at,
           .op = op,
           .n = count(result.elements()),
           .rank = 0,
           .extent = {},
           .stride_a = {},
           .stride_b = {},
           .end = e};
  for (int axis = 0; axis < result.rank; ++axis) {
    if (result[axis] == 1) continue;
    const auto stride_of = [&](const tensor::shape& s) {
      const int own = axis - (result.rank - s.rank);
      return own < 0 || s[own] == 1 ? 0 : count(s.product(own + 1, s.rank));
    };
    const int n = count(result[axis]), sa = stride_of(a.shape), sb = stride_of(b.shape);
    if (const int k = p.rank - 1; k >= 0 && p.stride_a[k] == sa * n && p.stride_b[k] == sb * n) {
      p.extent[k] *= n, p.stride_a[k] = sa, p.stride_b[k] = sb;
    } else {
      p.extent[p.rank] = n, p.stride_a[p.rank] = sa, p.stride_b[p.rank] = sb;
      ++p.rank;
    }
  }
  current->start(p);
}

/// y = a op b, a and b in the operator's order.
template <class Op, arithmetic F> struct binary_kernel : base<Op> {
  static void compute(const Op& op, graph::shapes in, const tensor::shape& result, const call& c, const ending& e) {
    const operand x{c.inputs[0], in[0]};
    if (op.which == ops::constant::none) return combine(c.output, x, {c.inputs[1], in[1]}, F, result, e);
    const operand fixed{c.parameters[0], op.fixed};
    if (op.which == ops::constant::first) combine(c.output, fixed, x, F, result, e);
    else combine(c.output, x, fixed, F, result, e);
  }
};

}  // namespace dice::kernels::cudnn
