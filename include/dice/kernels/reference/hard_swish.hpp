#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference, ops::hard_swish> : plain::activation_kernel<ops::hard_swish> {};

}  // namespace dice::kernels
