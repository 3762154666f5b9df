#pragma once

#include "dice/kernels/openmp/detail/pool.hpp"

#include <limits>

namespace dice::kernels {

template <> struct kernel<openmp, ops::max_pool> : host::base<ops::max_pool> {
  struct larger {
    template <class T> T operator()(T a, T b) const { return ((b > a) | (b != b)) ? b : a; }  // NaN wins, as in PyTorch
  };
  static void compute(const ops::max_pool& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const host::pool_form form(op, in[0], result);
    host::pool<larger>(form, in[0][0] * in[0][1], c.inputs[0], c.output, -std::numeric_limits<float>::infinity(),
                       [](float*, std::int64_t, std::int64_t, std::int64_t) {});
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
