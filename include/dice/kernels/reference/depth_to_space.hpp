#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::depth_to_space> : reference::base<ops::depth_to_space> {
  static void compute(const ops::depth_to_space& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto channels = op.group_channels(in[0]);
    for (std::int64_t i = 0; i < result.elements(); ++i) {
      auto p = detail::position(i, result);
      auto block = p[1] / channels;  // counted over groups, rows and columns of a block of pixels
      for (int k = 0; k < 2; ++k) {
        const auto f = op.factor(k, result);
        if (result.rank == 3 && k == 0) continue;
        auto& at = p[op.pixel_axis(k, result)];
        at += op.crop[k];
        block = block * f + at % f;
        at /= f;
      }
      p[1] = block * channels + p[1] % channels;
      c.output[i] = c.inputs[0][detail::offset(p, in[0])];
    }
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
