#pragma once

#include "dice/kernels/openmp/detail/sum.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::global_average_pool> : host::base<ops::global_average_pool> {
  static void compute(const ops::global_average_pool&, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto planes = in[0].product(0, 2), size = in[0].product(2, in[0].rank);
    host::parallel_for(planes, size, [&](std::int64_t begin, std::int64_t end) {
      for (auto p = begin; p < end; ++p) c.output[p] = host::total(c.inputs[0] + p * size, size) / static_cast<float>(size);
    });
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
