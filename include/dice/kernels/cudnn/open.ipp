#pragma once

#include "dice/kernels/cudnn/device.hpp"
#include "dice/kernels/cudnn/open.hpp"

namespace dice::kernels::cudnn {

DICE_API opened_accelerator open(const platform::unit& on) {
  return {std::make_unique<device>(on.index, on.precision, on.direct)};
}

}  // namespace dice::kernels::cudnn
