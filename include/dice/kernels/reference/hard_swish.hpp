#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::hard_swish> : reference::activation_kernel<ops::hard_swish> {};

}  // namespace dice::kernels
