#pragma once

#include "dice/kernels/openmp/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::dropout> : openmp::copy_kernel<ops::dropout> {};

}  // namespace dice::kernels
