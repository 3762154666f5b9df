#pragma once

#include "dice/kernels/reference/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::reshape> : reference::copy_kernel<ops::reshape> {};

}  // namespace dice::kernels
