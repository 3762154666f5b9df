#pragma once

#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels::reference {

/// Calls take(output element, window): `window(f)` calls f(input element) for each element under the window that lies in
/// the input, and returns how many lie in the padded input.
template <class Op, class Take>
void windows(const Op& op, const tensor::shape& in, const tensor::shape& result, const float* from, float* to, Take take) {
  const bool flat = in.rank == 3;
  const std::int64_t height = flat ? 1 : in[2], width = in[flat ? 2 : 3];
  const std::int64_t out_height = flat ? 1 : result[2], out_width = result[flat ? 2 : 3];
  for (std::int64_t plane = 0; plane < in[0] * in[1]; ++plane)
    for (std::int64_t oy = 0; oy < out_height; ++oy)
      for (std::int64_t ox = 0; ox < out_width; ++ox)
        take(*to++, [&](auto each) {
          std::int64_t padded = 0;
          for (int ky = 0; ky < op.kernel[0]; ++ky)
            for (int kx = 0; kx < op.kernel[1]; ++kx) {
              const auto y = oy * op.strides[0] + ky * op.dilations[0] - op.pads[0];
              const auto x = ox * op.strides[1] + kx * op.dilations[1] - op.pads[1];
              if (y < height + op.pads[2] && x < width + op.pads[3]) ++padded;
              if (y >= 0 && y < height && x >= 0 && x < width) each(from[(plane * height + y) * width + x]);
            }
          return padded;
        });
}

}  // namespace dice::kernels::reference
