#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::hard_swish> : gpu::activation_kernel<ops::hard_swish> {};

}  // namespace dice::kernels
