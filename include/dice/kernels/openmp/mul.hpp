#pragma once

#include "dice/kernels/openmp/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::mul> : openmp::binary_kernel<ops::mul, detail::times> {};

}  // namespace dice::kernels
