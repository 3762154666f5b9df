#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/reference/detail/activation.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::reduce_mean> : reference::base<ops::reduce_mean> {
  static void compute(const ops::reduce_mean& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    // Kept and reduced axes as two tensors of the input's rank: any axis has extent 1 in one of them.
    tensor::shape kept = in[0], reduced = in[0];
    for (int a = 0; a < in[0].rank; ++a) (op.over[a] ? kept : reduced)[a] = 1;
    const auto n = result.elements(), size = reduced.elements();
    for (std::int64_t i = 0; i < n; ++i) {
      double total = 0;
      for (std::int64_t k = 0; k < size; ++k) {
        auto p = detail::position(i, kept);
        const auto q = detail::position(k, reduced);
        for (int a = 0; a < in[0].rank; ++a) p[a] += q[a];
        total += c.inputs[0][detail::offset(p, in[0])];
      }
      c.output[i] = static_cast<float>(total / static_cast<double>(size));
    }
    e(c.output, n);
  }
};

}  // namespace dice::kernels
