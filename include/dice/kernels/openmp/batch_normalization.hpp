#pragma once

#include "dice/kernels/openmp/detail/rows.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::batch_normalization> : openmp::base<ops::batch_normalization> {
  static void compute(const ops::batch_normalization&, graph::shapes, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    using namespace detail;
    const bool blocked = c.result == tensor::layout::blocked;
    const auto channels = result[1];
    const auto of_row = [&](const float* parameter, std::int64_t row) {
      if (!blocked) return openmp::lanes(parameter[row % channels]);
      const auto first = row % tensor::blocks(channels) * tensor::block;
      return openmp::lanes(parameter + first, channels - first);
    };
    openmp::each_row(result, c.result, e, [&](std::int64_t row, std::int64_t at, std::int64_t end) {
      const auto a = of_row(c.parameters[0], row), b = of_row(c.parameters[1], row);
      for (; at < end; at += tensor::block)
        for (std::int64_t p = 0; p < tensor::block && at + p < end; p += width) {
          const float* x = c.inputs[0] + at + p;
          float* y = c.output + at + p;
          const auto n = end - at - p;
          if (n >= width) store(y, fma(load(x), load(a.of + p), load(b.of + p)));
          else store_first(y, fma(load_first(x, n), load(a.of + p), load(b.of + p)), n);
        }
    });
  }
};

}  // namespace dice::kernels
