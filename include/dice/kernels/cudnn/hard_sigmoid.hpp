#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::hard_sigmoid> : cudnn::activation_kernel<ops::hard_sigmoid> {};

}  // namespace dice::kernels
