// The operators that the backend computes.
#pragma once

#include "dice/graph/ops.hpp"
#include "dice/kernels/kernel.hpp"

namespace dice::kernels {

namespace cudnn {
using backend = tag<algorithm::backend::cudnn>;
}  // namespace cudnn

#ifndef DICE_WITH_CUDNN
template <> inline constexpr bool is_here<cudnn::backend> = false;
#endif

template <class Op> inline constexpr bool has_kernel<cudnn::backend, Op> = ops::is_computed<Op>;

}  // namespace dice::kernels
