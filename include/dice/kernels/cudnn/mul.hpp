#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::mul> : cudnn::binary_kernel<ops::mul, cudnn::arithmetic::times> {};

}  // namespace dice::kernels
