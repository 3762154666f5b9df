#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::hard_sigmoid> : gpu::activation_kernel<ops::hard_sigmoid> {};

}  // namespace dice::kernels
