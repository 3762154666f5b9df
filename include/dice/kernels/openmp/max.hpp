#pragma once

#include "dice/kernels/openmp/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::max> : openmp::binary_kernel<ops::max, detail::take_larger> {};

}  // namespace dice::kernels
