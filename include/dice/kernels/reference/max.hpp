#pragma once

#include "dice/kernels/reference/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::max> : reference::binary_kernel<ops::max, detail::take_larger> {};

}  // namespace dice::kernels
