#pragma once

#include "dice/kernels/reference/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<reference::backend, ops::p_relu> : reference::binary_kernel<ops::p_relu, detail::sloped> {};

}  // namespace dice::kernels
