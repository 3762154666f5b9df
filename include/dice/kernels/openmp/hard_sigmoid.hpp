#pragma once

#include "dice/kernels/openmp/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::hard_sigmoid> : host::activation_kernel<ops::hard_sigmoid> {};

}  // namespace dice::kernels
