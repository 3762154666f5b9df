#pragma once

#include "dice/kernels/openmp/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::flatten> : host::copy_kernel<ops::flatten> {};

}  // namespace dice::kernels
