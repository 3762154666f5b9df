#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::hard_sigmoid> : reference::activation_kernel<ops::hard_sigmoid> {};

}  // namespace dice::kernels
