#pragma once

#include "dice/kernels/reference/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::mul> : reference::binary_kernel<ops::mul, detail::times> {};

}  // namespace dice::kernels
