#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::hard_swish> : cudnn::activation_kernel<ops::hard_swish> {};

}  // namespace dice::kernels
