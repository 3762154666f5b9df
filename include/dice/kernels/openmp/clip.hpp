#pragma once

#include "dice/kernels/openmp/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::clip> : host::activation_kernel<ops::clip> {};

}  // namespace dice::kernels
