#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::clip> : gpu::activation_kernel<ops::clip> {};

}  // namespace dice::kernels
