#pragma once

#include "dice/kernels/reference/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::flatten> : reference::copy_kernel<ops::flatten> {};

}  // namespace dice::kernels
