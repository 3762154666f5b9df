#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::div> : cudnn::binary_kernel<ops::div, cudnn::arithmetic::over> {};

}  // namespace dice::kernels
