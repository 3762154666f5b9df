#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::sub> : gpu::binary_kernel<ops::sub, gpu::arithmetic::minus> {};

}  // namespace dice::kernels
