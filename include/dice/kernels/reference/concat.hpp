#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::concat> : reference::base<ops::concat> {
  static void compute(const ops::concat& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    for (std::size_t k = 0; k < in.size(); ++k) {
      const auto start = op.start(static_cast<int>(k), in);
      for (std::int64_t i = 0; i < in[k].elements(); ++i) {
        auto p = detail::position(i, in[k]);
        p[op.axis] += start;
        c.output[detail::offset(p, result)] = c.inputs[k][i];
      }
    }
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
