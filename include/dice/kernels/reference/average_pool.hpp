#pragma once

#include "dice/kernels/reference/detail/pool.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::average_pool> : reference::base<ops::average_pool> {
  static void compute(const ops::average_pool& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    reference::windows(op, in[0], result, c.inputs[0], c.output, [&](float& y, auto window) {
      double total = 0;
      std::int64_t inside = 0;
      const std::int64_t padded = window([&](float x) {
        total += x;
        ++inside;
      });
      const auto n = op.count_include_pad ? padded : inside;
      y = n ? static_cast<float>(total / static_cast<double>(n)) : 0;
    });
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
