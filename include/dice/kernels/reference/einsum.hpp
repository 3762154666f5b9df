#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/detail/operand.hpp"
#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::einsum> : reference::base<ops::einsum> {
  static void compute(const ops::einsum& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    for (std::int64_t i = 0; i < result.elements(); ++i) {
      const auto p = detail::position(i, result);
      const float* x[2] = {detail::operand_of(op, c, 0), detail::operand_of(op, c, 1)};
      for (int k = 0; k < 2; ++k)
        for (int o = 0; o < result.rank; ++o) x[k] += p[o] * op.stride(k, o, in);
      double total = 0;
      for (std::int64_t d = 0; d < op.length(in); ++d)
        total += static_cast<double>(x[0][d * op.depth_stride(0, in)]) * x[1][d * op.depth_stride(1, in)];
      c.output[i] = static_cast<float>(total * op.factor);
    }
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
