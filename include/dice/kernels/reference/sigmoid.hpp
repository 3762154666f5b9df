#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::sigmoid> : reference::activation_kernel<ops::sigmoid> {};

}  // namespace dice::kernels
