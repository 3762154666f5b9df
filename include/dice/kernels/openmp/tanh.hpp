#pragma once

#include "dice/kernels/openmp/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::tanh> : host::activation_kernel<ops::tanh> {};

}  // namespace dice::kernels
