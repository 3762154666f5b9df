#pragma once

#include "dice/graph/ops/einsum.hpp"

namespace dice::kernels::detail {

/// Operand a (k = 0) or b (k = 1): an input, or the parameter.
template <class Call> const float* operand_of(const ops::einsum& op, const Call& c, int k) {
  return op.is_fixed(k) ? c.parameters[0] : c.inputs[op.which == ops::constant::none ? k : 0];
}

}  // namespace dice::kernels::detail
