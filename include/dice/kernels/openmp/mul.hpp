#pragma once

#include "dice/kernels/openmp/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::mul> : host::binary_kernel<ops::mul, detail::times> {};

}  // namespace dice::kernels
