#pragma once

#include "dice/kernels/openmp/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::relu> : openmp::activation_kernel<ops::relu> {};

}  // namespace dice::kernels
