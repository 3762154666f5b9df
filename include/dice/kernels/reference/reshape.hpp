#pragma once

#include "dice/kernels/reference/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<reference, ops::reshape> : plain::copy_kernel<ops::reshape> {};

}  // namespace dice::kernels
