#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::min> : cudnn::binary_kernel<ops::min, cudnn::arithmetic::smaller> {};

}  // namespace dice::kernels
