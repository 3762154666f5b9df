#pragma once

#include "dice/kernels/openmp/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::min> : openmp::binary_kernel<ops::min, detail::take_smaller> {};

}  // namespace dice::kernels
