#pragma once

#include "dice/kernels/openmp/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::leaky_relu> : host::activation_kernel<ops::leaky_relu> {};

}  // namespace dice::kernels
