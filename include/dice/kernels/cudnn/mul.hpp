#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::mul> : gpu::binary_kernel<ops::mul, gpu::arithmetic::times> {};

}  // namespace dice::kernels
