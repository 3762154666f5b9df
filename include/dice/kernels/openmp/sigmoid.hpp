#pragma once

#include "dice/kernels/openmp/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::sigmoid> : openmp::activation_kernel<ops::sigmoid> {};

}  // namespace dice::kernels
