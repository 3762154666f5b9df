#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference, ops::hard_sigmoid> : plain::activation_kernel<ops::hard_sigmoid> {};

}  // namespace dice::kernels
