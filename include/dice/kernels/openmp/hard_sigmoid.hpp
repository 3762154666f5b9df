#pragma once

#include "dice/kernels/openmp/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::hard_sigmoid> : openmp::activation_kernel<ops::hard_sigmoid> {};

}  // namespace dice::kernels
