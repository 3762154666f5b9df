#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<cudnn::backend, ops::p_relu> : cudnn::binary_kernel<ops::p_relu, cudnn::arithmetic::sloped> {};

}  // namespace dice::kernels
