#pragma once

#include "dice/kernels/accelerator.hpp"
#include "dice/library.hpp"
#include "dice/platform/unit.hpp"

#include <memory>

namespace dice::kernels::gpu {

/// Opens the GPU of a unit. Throws std::runtime_error.
DICE_API std::unique_ptr<accelerator> open(const platform::unit& on);

}  // namespace dice::kernels::gpu

#if defined(DICE_HEADER_ONLY) && defined(DICE_WITH_CUDNN)
#include "dice/kernels/cudnn/open.ipp"
#endif
