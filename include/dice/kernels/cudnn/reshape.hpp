#pragma once

#include "dice/kernels/cudnn/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::reshape> : gpu::copy_kernel<ops::reshape> {};

}  // namespace dice::kernels
