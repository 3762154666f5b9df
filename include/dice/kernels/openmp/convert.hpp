#pragma once

#include "dice/kernels/kernel.hpp"
#include "dice/kernels/openmp/operators.hpp"
#include "dice/meta/library.hpp"

namespace dice::kernels {
namespace openmp {

/// In a blocked result, lanes beyond the channels are 0.
DICE_API void convert(const conversion& what, const void* from, void* to);

}  // namespace openmp

#ifdef DICE_WITH_OPENMP
template <> inline constexpr converter converts_by<openmp::backend> = &openmp::convert;
#endif

}  // namespace dice::kernels

#if defined(DICE_HEADER_ONLY) && defined(DICE_WITH_OPENMP)
#include "dice/kernels/openmp/convert.ipp"
#endif
