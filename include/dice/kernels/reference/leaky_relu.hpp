#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference, ops::leaky_relu> : plain::activation_kernel<ops::leaky_relu> {};

}  // namespace dice::kernels
