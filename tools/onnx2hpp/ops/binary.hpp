#pragma once

#include "graph/node_context.hpp"

#include "dice/graph/ops/binary.hpp"

namespace onnx2hpp {

using which_constant = dice::ops::constant;

/// A layer that computes Op of layer x and a constant.
template <class Op> int add_with_constant(node_context& n, int x, which_constant which, const constant& c) {
  const shape fixed = shape_of(c);
  Op op;
  op.which = which;
  op.fixed = fixed;
  return n.add(op, {x}, {{"constant", c, fixed}});
}

template <class Op> void import_binary(node_context& n) {
  if (n.is_constant(0)) n.result(add_with_constant<Op>(n, n.activation(1), which_constant::first, n.data(0, "operand")));
  else if (n.is_constant(1))
    n.result(add_with_constant<Op>(n, n.activation(0), which_constant::second, n.data(1, "operand")));
  else n.result(n.add(Op{}, {n.activation(0), n.activation(1)}));
}

}  // namespace onnx2hpp
