#pragma once

#include "dice/kernels/openmp/detail/binary.hpp"

namespace dice::kernels {

template <graph::arithmetic F> struct kernel<openmp::backend, ops::binary<F>> : openmp::binary_kernel<F> {};

}  // namespace dice::kernels
