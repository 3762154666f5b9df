#pragma once

#include "dice/kernels/cudnn/device.hpp"
#include "dice/kernels/cudnn/open.hpp"

namespace dice::kernels::cudnn {

DICE_API opened_accelerator open(const platform::unit& on) {
  return {std::make_unique<device>(on.index, on.precision, on.direct)};
}

DICE_API void convert_tensor(const conversion& what, const void* from, void* to) {
  const auto& s = what.of;
  current->start(convert{static_cast<float*>(to), static_cast<const float*>(from), count(s[0]), count(s[1]),
                         count(s.product(2, s.rank)), what.to.layout == tensor::layout::blocked});
}

}  // namespace dice::kernels::cudnn
