#pragma once

#include "dice/kernels/openmp/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::identity> : openmp::copy_kernel<ops::identity> {};

}  // namespace dice::kernels
