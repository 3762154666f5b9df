#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference, ops::relu> : plain::activation_kernel<ops::relu> {};

}  // namespace dice::kernels
