#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::tile> : reference::base<ops::tile> {
  static void compute(const ops::tile&, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    for (std::int64_t i = 0; i < result.elements(); ++i) {
      auto p = detail::position(i, result);
      for (int a = 0; a < result.rank; ++a) p[a] %= in[0][a];
      c.output[i] = c.inputs[0][detail::offset(p, in[0])];
    }
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
