#pragma once

#include "dice/kernels/cudnn/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::flatten> : cudnn::copy_kernel<ops::flatten> {};

}  // namespace dice::kernels
