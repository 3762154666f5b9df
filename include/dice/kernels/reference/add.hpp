#pragma once

#include "dice/kernels/reference/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::add> : reference::binary_kernel<ops::add, detail::plus> {};

}  // namespace dice::kernels
