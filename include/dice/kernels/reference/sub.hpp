#pragma once

#include "dice/kernels/reference/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::sub> : reference::binary_kernel<ops::sub, detail::minus> {};

}  // namespace dice::kernels
