#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/openmp/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::resize> : openmp::base<ops::resize> {
  /// to[factor x + k] = from[x] for k < factor, of Lanes neighbouring elements each. Constants become vector instructions.
  template <std::int64_t Lanes, class Factor>
  static void spread(float* to, const float* from, std::int64_t n, Factor factor) {
    for (std::int64_t x = 0; x < n; ++x)
      for (std::int64_t k = 0; k < factor; ++k)
        for (std::int64_t i = 0; i < Lanes; ++i) to[(x * factor + k) * Lanes + i] = from[x * Lanes + i];
  }

  template <std::int64_t Lanes>
  static void enlarge(const ops::resize& op, const tensor::shape& in, const tensor::shape& result, const call& c) {
    const int last = result.rank - 1;
    const std::int64_t columns = last < 0 ? 1 : in[last], factor = last < 0 ? 1 : op.factors[last];
    tensor::shape rows = result;
    if (last >= 0) rows[last] = 1;

    openmp::parallel_for(rows.elements(), columns * factor * Lanes, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; ++row) {
        auto p = detail::position(row, rows);
        for (int a = 0; a < last; ++a) p[a] /= op.factors[a];
        float* to = c.output + row * columns * factor * Lanes;
        const float* from = c.inputs[0] + detail::offset(p, in) * Lanes;
        if (factor == 2) spread<Lanes>(to, from, columns, std::integral_constant<std::int64_t, 2>());
        else spread<Lanes>(to, from, columns, factor);
      }
    });
  }

  static void compute(const ops::resize& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    if (c.result == tensor::layout::blocked) {  // like a plain tensor whose elements are blocks of sixteen
      const auto of_blocks = [](tensor::shape s) {
        s[1] = tensor::blocks(s[1]);
        return s;
      };
      enlarge<tensor::block>(op, of_blocks(in[0]), of_blocks(result), c);
    } else {
      enlarge<1>(op, in[0], result, c);
    }
    e(c.output, tensor::elements(result, c.result));
  }
};

}  // namespace dice::kernels
