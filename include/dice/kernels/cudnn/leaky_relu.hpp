#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::leaky_relu> : cudnn::activation_kernel<ops::leaky_relu> {};

}  // namespace dice::kernels
