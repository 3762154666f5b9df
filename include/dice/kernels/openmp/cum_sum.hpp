#pragma once

#include "dice/kernels/openmp/detail/box.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::kernels {

/// In blocked tensors, the axis is not that of the channels.
template <> struct kernel<openmp::backend, ops::cum_sum> : openmp::base<ops::cum_sum> {
  static void compute(const ops::cum_sum& op, graph::shapes, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const openmp::axes all(result, c.result, 0);
    const auto inner = all.stride[op.axis], extent = result[op.axis], step = op.reverse ? -inner : inner;
    const auto first = op.reverse ? (extent - 1) * inner : 0;
    openmp::parallel_for(all.extent.product(0, op.axis) * inner, extent, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end;) {  // sums that are neighbours
        const auto n = std::min(inner - i % inner, end - i), at = i / inner * extent * inner + i % inner + first;
        const float* x = c.inputs[0] + at;
        float* y = c.output + at;
        if (op.exclusive) std::fill_n(y, n, 0.0f);
        else openmp::copy(y, x, n);
        for (std::int64_t k = 1; k < extent; ++k, y += step) sum(y + step, y, x + (op.exclusive ? k - 1 : k) * step, n);
        i += n;
      }
    });
    openmp::finish(c, all, e);
  }

 private:
  static void sum(float* to, const float* a, const float* b, std::int64_t n) {
    using namespace detail;
    std::int64_t i = 0;
    for (; i + width <= n; i += width) store(to + i, load(a + i) + load(b + i));
    if (i < n) store_first(to + i, load_first(a + i, n - i) + load_first(b + i, n - i), n - i);
  }
};

}  // namespace dice::kernels
