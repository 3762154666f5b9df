#pragma once

#include "dice/kernels/reference/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<reference, ops::sub> : plain::binary_kernel<ops::sub, detail::minus> {};

}  // namespace dice::kernels
