#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::max> : cudnn::binary_kernel<ops::max, cudnn::arithmetic::larger> {};

}  // namespace dice::kernels
