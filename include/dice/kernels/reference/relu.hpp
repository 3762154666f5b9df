#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::relu> : reference::activation_kernel<ops::relu> {};

}  // namespace dice::kernels
