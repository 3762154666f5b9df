#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::elu> : cudnn::activation_kernel<ops::elu> {};

}  // namespace dice::kernels
