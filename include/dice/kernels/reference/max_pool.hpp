#pragma once

#include "dice/kernels/reference/detail/pool.hpp"

#include <cmath>
#include <limits>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::max_pool> : reference::base<ops::max_pool> {
  static void compute(const ops::max_pool& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    reference::windows(op, in[0], result, c.inputs[0], c.output, [](float& y, auto window) {
      y = -std::numeric_limits<float>::infinity();
      window([&](float x) {
        if (x > y || std::isnan(x)) y = x;  // NaN wins, as in PyTorch
      });
    });
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
