#pragma once

#include "dice/meta/library.hpp"
#include "dice/platform/unit.hpp"

namespace dice::kernels {

struct opened_accelerator;

namespace cudnn {

/// Opens the GPU of a unit. Throws std::runtime_error.
DICE_API opened_accelerator open(const platform::unit& on);

}  // namespace cudnn
}  // namespace dice::kernels

#if defined(DICE_HEADER_ONLY) && defined(DICE_WITH_CUDNN)
#include "dice/kernels/cudnn/open.ipp"
#endif
