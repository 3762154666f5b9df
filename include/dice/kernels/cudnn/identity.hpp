#pragma once

#include "dice/kernels/cudnn/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::identity> : gpu::copy_kernel<ops::identity> {};

}  // namespace dice::kernels
