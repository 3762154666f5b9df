#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::antialiased_resize> : reference::base<ops::antialiased_resize> {
  static void compute(const ops::antialiased_resize& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto axis = op.sampled(in[0][op.axis], result[op.axis]);
    for (std::int64_t i = 0; i < result.elements(); ++i) {
      auto p = detail::position(i, result);
      const auto s = ops::filtered_of(axis, static_cast<int>(op.first_out + p[op.axis]));
      double sum = 0, weights = 0;
      for (int k = 0; k < s.count; ++k) {
        p[op.axis] = s.at(k, axis.in) - op.first_in;
        const double w = static_cast<double>(s.weight(axis, k));
        sum += w * static_cast<double>(c.inputs[0][detail::offset(p, in[0])]);
        weights += w;
      }
      c.output[i] = static_cast<float>(sum / weights);
    }
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
