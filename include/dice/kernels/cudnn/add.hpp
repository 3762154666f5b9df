#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::add> : cudnn::binary_kernel<ops::add, cudnn::arithmetic::plus> {};

}  // namespace dice::kernels
