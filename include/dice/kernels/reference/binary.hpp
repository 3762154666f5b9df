#pragma once

#include "dice/kernels/reference/detail/binary.hpp"

namespace dice::kernels {

template <graph::arithmetic F> struct kernel<reference::backend, ops::binary<F>> : reference::binary_kernel<F> {};

}  // namespace dice::kernels
