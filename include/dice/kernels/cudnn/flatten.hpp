#pragma once

#include "dice/kernels/cudnn/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::flatten> : gpu::copy_kernel<ops::flatten> {};

}  // namespace dice::kernels
