#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::div> : gpu::binary_kernel<ops::div, gpu::arithmetic::over> {};

}  // namespace dice::kernels
