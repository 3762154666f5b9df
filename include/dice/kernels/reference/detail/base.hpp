#pragma once

#include "dice/graph/ops.hpp"
#include "dice/kernels/detail/epilogue.hpp"
#include "dice/kernels/reference/operators.hpp"

namespace dice::kernels::reference {

/// What every kernel of the backend derives from (kernels/kernel.hpp).
template <class Op> struct base {
  using op_type = Op;
  using execution = detail::plain_execution<false>;
};

}  // namespace dice::kernels::reference
