#pragma once

#include "dice/kernels/openmp/detail/binary.hpp"

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::p_relu> : openmp::binary_kernel<ops::p_relu, detail::sloped> {};

}  // namespace dice::kernels
