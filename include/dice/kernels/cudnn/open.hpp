#pragma once

#include "dice/kernels/cudnn/operators.hpp"
#include "dice/meta/library.hpp"

namespace dice::kernels {
namespace cudnn {

/// Opens the GPU of a unit. Throws std::runtime_error.
DICE_API opened_accelerator open(const platform::unit& on);
/// Records a conversion, as the kernels are recorded.
DICE_API void convert_tensor(const conversion& what, const void* from, void* to);

}  // namespace cudnn

#ifdef DICE_WITH_CUDNN
template <> inline constexpr opener open_accelerator<cudnn::backend> = &cudnn::open;
template <> inline constexpr converter converts_by<cudnn::backend> = &cudnn::convert_tensor;
#endif

}  // namespace dice::kernels

#if defined(DICE_HEADER_ONLY) && defined(DICE_WITH_CUDNN)
#include "dice/kernels/cudnn/open.ipp"
#endif
