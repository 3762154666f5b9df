#pragma once

#include "dice/kernels/cudnn/detail/binary.hpp"

namespace dice::kernels {

template <graph::arithmetic F> struct kernel<cudnn::backend, ops::binary<F>> : cudnn::binary_kernel<F> {};

}  // namespace dice::kernels
