#pragma once

#include "graph/node_context.hpp"

#include "dice/graph/ops/detail/binary.hpp"

#include <type_traits>

namespace onnx2hpp {

using which_constant = dice::ops::constant;

inline std::string literal(which_constant which) {
  return which == which_constant::none    ? "::dice::ops::constant::none"
         : which == which_constant::first ? "::dice::ops::constant::first"
                                          : "::dice::ops::constant::second";
}

/// Attributes of add, sub, mul and div.
template <class Op> void write_binary(const Op& op, initialiser& out) {
  if (op.which == which_constant::none) return;
  out.add("which", literal(op.which));
  out.add("fixed", literal(op.fixed));
}

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

/// Max or Min of any number of operands, combined pairwise: layers first, then constants.
template <class Op> void import_variadic(node_context& n) {
  std::vector<int> layers, constants;
  for (int k = 0; k < n.inputs(); ++k) (n.is_constant(k) ? constants : layers).push_back(k);
  n.require(!layers.empty(), "it has no input");
  int out = n.activation(layers[0]);
  for (std::size_t k = 1; k < layers.size(); ++k) out = n.add(Op{}, {out, n.activation(layers[k])});
  for (const int k : constants) out = add_with_constant<Op>(n, out, which_constant::second, n.data(k, "operand"));
  if (n.inputs() == 1) n.pass();
  else n.result(out);
}

/// The layer that adds up all inputs of the node.
int add_all(node_context& n);
/// An Add layer with a constant, such as a bias that depends on the row.
int add_bias(node_context& n, int x, const constant& c);
/// An Add layer of two layers, and a Mul layer by a number.
int add_layers(node_context& n, int a, int b);
int multiply_layers(node_context& n, int a, int b);
int multiply(node_context& n, int x, double factor);
/// A Transpose layer that swaps the axes of a matrix.
int transpose_matrix(node_context& n, int x);

}  // namespace onnx2hpp
