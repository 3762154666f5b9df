#pragma once

#include "dice/kernels/openmp/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::identity> : host::copy_kernel<ops::identity> {};

}  // namespace dice::kernels
