#pragma once

#include "dice/kernels/cudnn/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::dropout> : gpu::copy_kernel<ops::dropout> {};

}  // namespace dice::kernels
