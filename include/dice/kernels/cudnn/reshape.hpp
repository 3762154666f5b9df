#pragma once

#include "dice/kernels/cudnn/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::reshape> : cudnn::copy_kernel<ops::reshape> {};

}  // namespace dice::kernels
