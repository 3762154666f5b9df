#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::elementwise> : cudnn::activation_kernel<ops::elementwise> {};

}  // namespace dice::kernels
