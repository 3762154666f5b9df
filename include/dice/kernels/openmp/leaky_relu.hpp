#pragma once

#include "dice/kernels/openmp/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::leaky_relu> : openmp::activation_kernel<ops::leaky_relu> {};

}  // namespace dice::kernels
