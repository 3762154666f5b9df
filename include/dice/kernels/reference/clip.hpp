#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::clip> : reference::activation_kernel<ops::clip> {};

}  // namespace dice::kernels
