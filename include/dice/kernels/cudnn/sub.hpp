#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::sub> : cudnn::binary_kernel<ops::sub, cudnn::arithmetic::minus> {};

}  // namespace dice::kernels
