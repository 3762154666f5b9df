#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::add> : gpu::binary_kernel<ops::add, gpu::arithmetic::plus> {};

}  // namespace dice::kernels
