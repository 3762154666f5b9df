#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

namespace dice::kernels::cudnn {

/// An operand of a binary operator.
struct operand {
  const float* at;
  const tensor::shape& shape;
};

/// Axes of `result` and the strides with which operands of shapes `a` and `b` are broadcast to it. Adjacent axes along which
/// both continue with an even stride are merged.
inline void broadcast(const tensor::shape& result, const tensor::shape& a, const tensor::shape& b, int& rank, int* extent,
                      int* stride_a, int* stride_b) {
  for (int axis = 0; axis < result.rank; ++axis) {
    if (result[axis] == 1) continue;
    const auto stride_of = [&](const tensor::shape& s) {
      const int own = axis - (result.rank - s.rank);
      return own < 0 || s[own] == 1 ? 0 : count(s.product(own + 1, s.rank));
    };
    const int n = count(result[axis]), sa = stride_of(a), sb = stride_of(b);
    if (const int k = rank - 1; k >= 0 && stride_a[k] == sa * n && stride_b[k] == sb * n) {
      extent[k] *= n;
      stride_a[k] = sa;
      stride_b[k] = sb;
    } else {
      extent[rank] = n;
      stride_a[rank] = sa;
      stride_b[rank] = sb;
      ++rank;
    }
  }
}

/// y = a op b with broadcasting to `result`.
inline void combine(float* y, const operand& a, const operand& b, graph::arithmetic op, const tensor::shape& result,
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
  broadcast(result, a.shape, b.shape, p.rank, p.extent, p.stride_a, p.stride_b);
  current->start(p);
}

/// y = a op b, a and b in the operator's order.
template <graph::arithmetic F> struct binary_kernel : base<ops::binary<F>> {
  static void compute(const ops::binary<F>& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const ending& e) {
    const operand x{c.inputs[0], in[0]};
    if (op.which == ops::constant::none) return combine(c.output, x, {c.inputs[1], in[1]}, F, result, e);
    const operand fixed{c.parameters[0], op.fixed};
    if (op.which == ops::constant::first) combine(c.output, fixed, x, F, result, e);
    else combine(c.output, x, fixed, F, result, e);
  }
};

}  // namespace dice::kernels::cudnn
