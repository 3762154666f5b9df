#pragma once

#include "dice/kernels/openmp/detail/copy.hpp"

#include <cstdint>

namespace dice::kernels {

/// An input that is already at its place in the output is not copied.
template <> struct kernel<openmp::backend, ops::concat> : openmp::base<ops::concat> {
  static void compute(const ops::concat& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto outer = result.product(0, op.axis), row = tensor::elements(result, c.result) / outer;
    std::int64_t start = 0;
    for (std::size_t k = 0; k < in.size(); ++k) {
      const auto part = tensor::elements(in[k], c.result) / outer;
      const float* from = c.inputs[k];
      float* to = c.output + start;
      start += part;
      if (outer == 1 && from == to) continue;
      openmp::parallel_elements(outer * part, [&](std::int64_t begin, std::int64_t end) {
        for (auto at = begin; at < end;) {
          const auto column = at % part, n = std::min(part - column, end - at);
          openmp::copy(to + at / part * row + column, from + at, n);
          at += n;
        }
      });
    }
    e(c.output, outer * row);
  }
};

}  // namespace dice::kernels
