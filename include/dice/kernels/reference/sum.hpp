#pragma once

#include "dice/kernels/reference/detail/binary.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::sum> : reference::base<ops::sum> {
  static void compute(const ops::sum&, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto n = result.elements();
    for (std::int64_t i = 0; i < n; ++i) {
      const auto p = detail::position(i, result);
      double total = 0;
      for (std::size_t k = 0; k < in.size(); ++k) total += reference::broadcast(c.inputs[k], in[k], p, result.rank);
      c.output[i] = static_cast<float>(total);
    }
    e(c.output, n);
  }
};

}  // namespace dice::kernels
