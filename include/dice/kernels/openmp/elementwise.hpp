#pragma once

#include "dice/kernels/openmp/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::elementwise> : openmp::activation_kernel<ops::elementwise> {};

}  // namespace dice::kernels
