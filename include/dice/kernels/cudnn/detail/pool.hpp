#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"
#include "dice/kernels/cudnn/detail/window.hpp"

namespace dice::kernels::cudnn {

template <class Op>
void pool_windows(const Op& op, const tensor::shape& in, const tensor::shape& result, const call& c, pooling how,
                  const ending& e) {
  const auto x = image_of(in), y = image_of(result);
  pool p{c.output, c.inputs[0], count(x[0] * x[1]), count(x[2]), count(x[3]), count(y[2]), count(y[3]), {}, {}, {}, {}, how,
         e};
  for (std::size_t i = 0; i < 2; ++i) {
    p.kernel[i] = op.kernel[i];
    p.strides[i] = op.strides[i];
    p.dilations[i] = op.dilations[i];
  }
  for (std::size_t i = 0; i < 4; ++i) p.pads[i] = op.pads[i];
  current->start(p);
}

}  // namespace dice::kernels::cudnn
