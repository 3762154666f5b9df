#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::clip> : cudnn::activation_kernel<ops::clip> {};

}  // namespace dice::kernels
