#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::relu> : cudnn::activation_kernel<ops::relu> {};

}  // namespace dice::kernels
