#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::tanh> : reference::activation_kernel<ops::tanh> {};

}  // namespace dice::kernels
