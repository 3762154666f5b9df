#pragma once

#include "dice/kernels/cudnn/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn, ops::elu> : gpu::activation_kernel<ops::elu> {};

}  // namespace dice::kernels
