#pragma once

#include "dice/kernels/reference/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::dropout> : reference::copy_kernel<ops::dropout> {};

}  // namespace dice::kernels
