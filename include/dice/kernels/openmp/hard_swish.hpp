#pragma once

#include "dice/kernels/openmp/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::hard_swish> : host::activation_kernel<ops::hard_swish> {};

}  // namespace dice::kernels
