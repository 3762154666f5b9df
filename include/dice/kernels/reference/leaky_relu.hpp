#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::leaky_relu> : reference::activation_kernel<ops::leaky_relu> {};

}  // namespace dice::kernels
