#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::sigmoid> : gpu::activation_kernel<ops::sigmoid> {};

}  // namespace dice::kernels
