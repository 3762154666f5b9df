#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference, ops::clip> : plain::activation_kernel<ops::clip> {};

}  // namespace dice::kernels
