#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::resize> : reference::base<ops::resize> {
  static void compute(const ops::resize& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto n = result.elements();
    for (std::int64_t i = 0; i < n; ++i) {
      auto p = detail::position(i, result);
      if (op.mode == ops::resizing::repeat) {
        for (int a = 0; a < result.rank; ++a) p[a] /= op.factors[a];
        c.output[i] = c.inputs[0][detail::offset(p, in[0])];
      } else {
        bool beyond = false;
        const double y = sum(op, in[0], result, p, 0, 0, c.inputs[0], beyond);
        c.output[i] = beyond ? op.extrapolation : static_cast<float>(y);
      }
    }
    e(c.output, n);
  }

 private:
  /// Over what element `p` of the result reads along the axes from `a` on; `at` is the offset of the axes before.
  static double sum(const ops::resize& op, const tensor::shape& in, const tensor::shape& result, const detail::index& p,
                    int a, std::int64_t at, const float* x, bool& beyond) {
    if (a == result.rank) return x[at];
    const auto axis = op.axis(a, in, result);
    const auto s = ops::samples_of(axis, static_cast<int>(op.first_out[a] + p[a]));
    beyond = beyond || s.beyond;
    double total = 0;
    for (int k = 0; k < s.count; ++k) {
      const auto next = at * in[a] + s.at(k, axis.in) - op.first_in[a];
      total += static_cast<double>(s.weight[k]) * sum(op, in, result, p, a + 1, next, x, beyond);
    }
    return total;
  }
};

}  // namespace dice::kernels
