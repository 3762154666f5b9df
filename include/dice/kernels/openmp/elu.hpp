#pragma once

#include "dice/kernels/openmp/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::elu> : openmp::activation_kernel<ops::elu> {};

}  // namespace dice::kernels
