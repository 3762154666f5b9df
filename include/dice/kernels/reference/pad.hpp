#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::pad> : reference::base<ops::pad> {
  static void compute(const ops::pad& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto n = result.elements();
    for (std::int64_t i = 0; i < n; ++i) {
      auto p = detail::position(i, result);
      bool inside = true;
      for (int a = 0; a < result.rank; ++a) {
        const auto extent = in[0][a];
        p[a] -= op.before[a];
        if (op.mode == ops::padding::edge) p[a] = std::clamp<std::int64_t>(p[a], 0, extent - 1);
        if (op.mode == ops::padding::reflect && p[a] < 0) p[a] = -p[a];
        if (op.mode == ops::padding::reflect && p[a] >= extent) p[a] = 2 * (extent - 1) - p[a];
        if (op.mode == ops::padding::wrap) p[a] = (p[a] % extent + extent) % extent;
        inside = inside && p[a] >= 0 && p[a] < extent;
      }
      c.output[i] = inside ? c.inputs[0][detail::offset(p, in[0])] : op.value;
    }
    e(c.output, n);
  }
};

}  // namespace dice::kernels
