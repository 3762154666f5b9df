#pragma once

#include "dice/kernels/openmp/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::tanh> : openmp::activation_kernel<ops::tanh> {};

}  // namespace dice::kernels
