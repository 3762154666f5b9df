// The backend, which computes all operators.
#pragma once

#include "dice/graph/ops.hpp"
#include "dice/kernels/kernel.hpp"

namespace dice::kernels {

namespace reference {
using backend = tag<algorithm::backend::reference>;
}

template <class Op> inline constexpr bool has_kernel<reference::backend, Op> = ops::is_computed<Op>;

}  // namespace dice::kernels
