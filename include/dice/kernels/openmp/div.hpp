#pragma once

#include "dice/kernels/openmp/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::div> : openmp::binary_kernel<ops::div, detail::over> {};

}  // namespace dice::kernels
