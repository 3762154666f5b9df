#pragma once

#include "dice/kernels/reference/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::div> : reference::binary_kernel<ops::div, detail::over> {};

}  // namespace dice::kernels
