#pragma once

#include "dice/kernels/openmp/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::sub> : openmp::binary_kernel<ops::sub, detail::minus> {};

}  // namespace dice::kernels
