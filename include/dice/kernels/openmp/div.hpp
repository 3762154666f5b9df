#pragma once

#include "dice/kernels/openmp/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::div> : host::binary_kernel<ops::div, detail::over> {};

}  // namespace dice::kernels
