#pragma once

#include "dice/kernels/openmp/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::hard_swish> : openmp::activation_kernel<ops::hard_swish> {};

}  // namespace dice::kernels
