#pragma once

#include "dice/kernels/reference/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<reference, ops::identity> : plain::copy_kernel<ops::identity> {};

}  // namespace dice::kernels
