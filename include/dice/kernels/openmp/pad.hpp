#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/openmp/detail/copy.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::pad> : openmp::base<ops::pad> {
  /// Index within an axis of extent n whose element appears at index i; -1: the constant.
  static std::int64_t source(ops::padding mode, std::int64_t i, std::int64_t n) {
    if (mode == ops::padding::edge) return std::clamp<std::int64_t>(i, 0, n - 1);
    if (mode == ops::padding::reflect) return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
    if (mode == ops::padding::wrap) return (i % n + n) % n;
    return i < 0 || i >= n ? -1 : i;
  }

  static void compute(const ops::pad& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const int last = result.rank - 1;
    const auto columns = last < 0 ? 1 : result[last], extent = last < 0 ? 1 : in[0][last];
    const auto before = last < 0 ? 0 : op.before[last];
    // Columns of the output that lie in the input.
    const auto first = std::clamp<std::int64_t>(before, 0, columns), stop = std::clamp(before + extent, first, columns);
    tensor::shape outer = result;
    if (last >= 0) outer[last] = 1;

    openmp::parallel_for(outer.elements(), columns, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; ++row) {
        float* to = c.output + row * columns;
        auto p = detail::position(row, outer);
        bool inside = true;
        for (int a = 0; a < last; ++a) {
          p[a] = source(op.mode, p[a] - op.before[a], in[0][a]);
          inside = inside && p[a] >= 0;
        }
        if (!inside) {
          std::fill_n(to, columns, op.value);
          continue;
        }
        const float* from = c.inputs[0] + detail::offset(p, in[0]);
        const auto beyond = [&](std::int64_t x) {
          const auto at = source(op.mode, x - before, extent);
          to[x] = at < 0 ? op.value : from[at];
        };
        for (std::int64_t x = 0; x < first; ++x) beyond(x);
        if (stop > first) openmp::copy(to + first, from + first - before, stop - first);
        for (auto x = stop; x < columns; ++x) beyond(x);
      }
    });
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
