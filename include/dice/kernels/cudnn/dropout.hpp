#pragma once

#include "dice/kernels/cudnn/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::dropout> : cudnn::copy_kernel<ops::dropout> {};

}  // namespace dice::kernels
