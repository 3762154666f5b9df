#pragma once

#include "dice/kernels/openmp/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::add> : openmp::binary_kernel<ops::add, detail::plus> {};

}  // namespace dice::kernels
