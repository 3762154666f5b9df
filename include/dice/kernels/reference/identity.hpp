#pragma once

#include "dice/kernels/reference/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::identity> : reference::copy_kernel<ops::identity> {};

}  // namespace dice::kernels
