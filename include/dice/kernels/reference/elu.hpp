#pragma once

#include "dice/kernels/reference/detail/activation.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::elu> : reference::activation_kernel<ops::elu> {};

}  // namespace dice::kernels
