#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::leaky_relu> : gpu::activation_kernel<ops::leaky_relu> {};

}  // namespace dice::kernels
