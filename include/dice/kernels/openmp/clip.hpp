#pragma once

#include "dice/kernels/openmp/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::clip> : openmp::activation_kernel<ops::clip> {};

}  // namespace dice::kernels
