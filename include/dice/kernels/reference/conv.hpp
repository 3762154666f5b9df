#pragma once

#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::conv> : reference::base<ops::conv> {
  static void compute(const ops::conv& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const bool flat = in[0].rank == 3;
    const std::int64_t channels = in[0][1], height = flat ? 1 : in[0][2], width = in[0][flat ? 2 : 3];
    const std::int64_t out_height = flat ? 1 : result[2], out_width = result[flat ? 2 : 3];
    const std::int64_t in_group = channels / op.group, out_group = op.channels / op.group;
    float* to = c.output;
    for (std::int64_t n = 0; n < in[0][0]; ++n)
      for (std::int64_t o = 0; o < op.channels; ++o)
        for (std::int64_t oy = 0; oy < out_height; ++oy)
          for (std::int64_t ox = 0; ox < out_width; ++ox) {
            double total = op.bias ? c.parameters[1][o] : 0;
            for (std::int64_t i = 0; i < in_group; ++i)
              for (int ky = 0; ky < op.kernel[0]; ++ky)
                for (int kx = 0; kx < op.kernel[1]; ++kx) {
                  const auto y = oy * op.strides[0] + ky * op.dilations[0] - op.pads[0];
                  const auto x = ox * op.strides[1] + kx * op.dilations[1] - op.pads[1];
                  if (y < 0 || y >= height || x < 0 || x >= width) continue;
                  const auto channel = o / out_group * in_group + i;
                  total += static_cast<double>(c.inputs[0][((n * channels + channel) * height + y) * width + x]) *
                           c.parameters[0][((o * in_group + i) * op.kernel[0] + ky) * op.kernel[1] + kx];
                }
            *to++ = static_cast<float>(total);
          }
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
