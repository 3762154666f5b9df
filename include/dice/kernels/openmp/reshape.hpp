#pragma once

#include "dice/kernels/openmp/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::reshape> : openmp::copy_kernel<ops::reshape> {};

}  // namespace dice::kernels
