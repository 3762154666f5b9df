#pragma once

#include "dice/kernels/cudnn/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::identity> : cudnn::copy_kernel<ops::identity> {};

}  // namespace dice::kernels
