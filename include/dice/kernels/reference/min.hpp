#pragma once

#include "dice/kernels/reference/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::min> : reference::binary_kernel<ops::min, detail::take_smaller> {};

}  // namespace dice::kernels
