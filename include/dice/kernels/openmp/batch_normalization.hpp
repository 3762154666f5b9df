#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::batch_normalization> : host::base<ops::batch_normalization> {
  static void compute(const ops::batch_normalization&, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    using namespace detail;
    const auto size = in[0].product(2, in[0].rank), channels = in[0][1];
    host::parallel_elements(result.elements(), [&](std::int64_t begin, std::int64_t end) {
      for (auto at = begin; at < end;) {
        const auto channel = at / size % channels;
        const auto stop = std::min(end, (at / size + 1) * size);
        const vec a = splat(c.parameters[0][channel]), b = splat(c.parameters[1][channel]);
        for (; at + width <= stop; at += width) store(c.output + at, fma(load(c.inputs[0] + at), a, b));
        if (const auto n = stop - at; n > 0) store_first(c.output + at, fma(load_first(c.inputs[0] + at, n), a, b), n);
        at = stop;
      }
      e(c.output + begin, end - begin);
    });
  }
};

}  // namespace dice::kernels
