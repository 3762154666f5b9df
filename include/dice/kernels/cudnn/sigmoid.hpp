#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::sigmoid> : cudnn::activation_kernel<ops::sigmoid> {};

}  // namespace dice::kernels
