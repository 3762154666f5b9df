#include "ops/functions.hpp"
#include "ops/layers.hpp"

#include "dice/graph/ops/mat_mul.hpp"

#include <fmt/format.h>

namespace onnx2hpp {

using dice::ops::mat_mul;

template <> struct spelling<mat_mul> {
  static constexpr const char* name = "mat_mul";
  static void write(const mat_mul& op, const mat_mul&, initialiser& out) {
    out.add("columns", literal(op.columns));
    out.add("depth", literal(op.depth));
    out.add("bias", literal(op.bias));
  }
};

operation mat_mul_of(std::int64_t columns, std::int64_t depth, bool bias) { return mat_mul{columns, depth, bias}; }

namespace {

void import(node_context& n) {
  if (n.is_constant(0)) n.refuse("its first operand is a constant; an activation times a constant or another is supported");
  if (!n.is_constant(1)) return n.result(multiply_matrices(n, n.activation(0), n.activation(1)));
  const int x = n.activation(0);
  const shape in = n.shape_of(x);
  const constant& w = n.data(1, "second operand");
  const shape matrix = shape_of(w);
  n.require(in.rank >= 1 && matrix.rank >= 1, "one of its operands is a scalar");
  const bool vector = matrix.rank == 1;
  // Axes before the last two must have extent 1: then all of x is multiplied by the same matrix.
  if (matrix.product(0, matrix.rank - 2) != 1)
    n.refuse(fmt::format("its second operand {} is more than one matrix", literal(matrix)));
  const mat_mul op{.columns = vector ? 1 : matrix[matrix.rank - 1], .depth = matrix[vector ? 0 : matrix.rank - 2]};
  if (op.depth != in[in.rank - 1])
    n.refuse(fmt::format("the last axis of its input has {} elements, its weights expect {}", in[in.rank - 1], op.depth));
  const int product = n.add(op, {x}, {{"weight", w, {op.columns, op.depth}, !vector}});
  shape result = n.shape_of(product);
  if (vector) {
    shape cut;
    for (int a = 0; a + 1 < result.rank; ++a) cut.push_back(result[a]);
    n.result(reshape_layer(n, product, cut));
  } else if (matrix.rank > std::max(in.rank, 2)) {
    shape grown;
    for (int a = std::max(in.rank, 2); a < matrix.rank; ++a) grown.push_back(1);
    for (int a = 0; a < result.rank; ++a) grown.push_back(result[a]);
    n.result(reshape_layer(n, product, grown));
  } else {
    n.result(product);
  }
}

const importer known("MatMul", import, 1, "",
                     "a constant only as second operand, of one matrix; two activations become Einsum");

}  // namespace
}  // namespace onnx2hpp
