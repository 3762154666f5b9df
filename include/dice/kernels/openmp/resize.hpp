#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/openmp/detail/base.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::resize> : host::base<ops::resize> {
  /// to[factor x + k] = from[x] for k < factor. A constant factor, as of the common 2, becomes vector instructions.
  template <class Factor> static void spread(float* to, const float* from, std::int64_t n, Factor factor) {
    for (std::int64_t x = 0; x < n; ++x)
      for (std::int64_t k = 0; k < factor; ++k) to[x * factor + k] = from[x];
  }

  static void compute(const ops::resize& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const int last = result.rank - 1;
    const std::int64_t columns = last < 0 ? 1 : in[0][last],
                       factor = last < 0 ? 1 : op.factors[static_cast<std::size_t>(last)];
    tensor::shape rows = result;
    if (last >= 0) rows[last] = 1;

    host::parallel_for(rows.elements(), columns * factor, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; ++row) {
        auto p = detail::position(row, rows);
        for (int a = 0; a < last; ++a) p[a] /= op.factors[static_cast<std::size_t>(a)];
        float* to = c.output + row * columns * factor;
        const float* from = c.inputs[0] + detail::offset(p, in[0]);
        if (factor == 2) spread(to, from, columns, std::integral_constant<std::int64_t, 2>());
        else spread(to, from, columns, factor);
      }
    });
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
