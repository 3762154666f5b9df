#pragma once

#include "dice/kernels/openmp/detail/copy.hpp"

namespace dice::kernels {

template <> struct kernel<openmp, ops::reshape> : host::copy_kernel<ops::reshape> {};

}  // namespace dice::kernels
