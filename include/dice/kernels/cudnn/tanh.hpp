#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::tanh> : cudnn::activation_kernel<ops::tanh> {};

}  // namespace dice::kernels
