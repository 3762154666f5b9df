// The backend, which computes all operators.
#pragma once

#include "dice/graph/ops.hpp"
#include "dice/kernels/kernel.hpp"

namespace dice::kernels {

namespace openmp {
using backend = tag<algorithm::backend::openmp>;
}

template <class Op> inline constexpr bool has_kernel<openmp::backend, Op> = ops::is_computed<Op>;

}  // namespace dice::kernels
