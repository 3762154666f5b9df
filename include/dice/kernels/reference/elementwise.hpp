#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::elementwise> : reference::activation_kernel<ops::elementwise> {};

}  // namespace dice::kernels
