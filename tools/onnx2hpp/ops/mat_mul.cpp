#include "ops/functions.hpp"
#include "ops/layers.hpp"

#include "dice/graph/ops/mat_mul.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

/// Matrix number `k` of a stack of `form`.
constant matrix_of(const constant& stack, const shape& form, std::int64_t k) {
  const auto rows = form[form.rank - 2], columns = form[form.rank - 1];
  const auto bytes = static_cast<std::size_t>(rows * columns) * size_of(stack.type);
  return {stack.type, {rows, columns}, stack.bytes.subspan(static_cast<std::size_t>(k) * bytes, bytes), stack.owner};
}

/// Products of layers with the matrices of a constant stack, which has as many axes as the layers.
struct stack_products {
  static constexpr std::int64_t most = 64;

  node_context& n;
  const constant& stack;
  const shape form;
  const bool first;  ///< the constants are the first operands; then those of the layers are transposed

  /// x times the matrices from number `k` on, of which the axes before `axis` have been chosen.
  int multiply(int x, int axis, std::int64_t k) const {
    if (axis + 2 == form.rank) {
      const auto matrix = matrix_of(stack, form, k);
      const auto rows = matrix.dims[0], columns = matrix.dims[1];
      const mat_mul op = first ? mat_mul{.columns = rows, .depth = columns} : mat_mul{.columns = columns, .depth = rows};
      return n.add(op, {x}, {{"weight", matrix, {op.columns, op.depth}, !first}});
    }
    const auto extent = form[axis], own = n.shape_of(x)[axis];
    n.require(extent == 1 || own == 1 || own == extent, "the stacks of its matrices differ");
    std::vector<int> parts;
    for (std::int64_t i = 0; i < extent; ++i)
      parts.push_back(multiply(extent > 1 && own > 1 ? slice_layer(n, x, axis, i, 1) : x, axis + 1, k * extent + i));
    return parts.size() == 1 ? parts[0] : concat_layer(n, parts, axis);
  }
};

int reshape_unless(node_context& n, int x, const shape& to) { return n.shape_of(x) == to ? x : reshape_layer(n, x, to); }

int swap_last_axes(node_context& n, int x) {
  std::vector<int> perm;
  for (int a = 0; a < n.shape_of(x).rank; ++a) perm.push_back(a);
  std::swap(perm[perm.size() - 2], perm.back());
  return transpose_layer(n, x, perm);
}

/// As a stack of matrices with `rank` axes; a vector is a row, or a column.
shape as_stack(const shape& s, int rank, bool row) {
  shape out;
  const int own = s.rank == 1 ? 2 : s.rank;
  for (int a = own; a < rank; ++a) out.push_back(1);
  if (s.rank == 1 && row) out.push_back(1);
  for (int a = 0; a < s.rank; ++a) out.push_back(s[a]);
  if (s.rank == 1 && !row) out.push_back(1);
  return out;
}

/// Of a layer and several constant matrices, or constants that come first.
void import_stack(node_context& n, bool first) {
  int x = n.activation(first ? 1 : 0);
  const constant& w = n.data(first ? 0 : 1, "matrices");
  const shape in = n.shape_of(x), of = shape_of(w);
  n.require(in.rank >= 1 && of.rank >= 1, "one of its operands is a scalar");
  const int rank = std::max({in.rank, of.rank, 2});
  const shape form = as_stack(of, rank, first), to = as_stack(in, rank, !first);
  if (form.product(0, rank - 2) > stack_products::most)
    n.refuse(fmt::format("its constant {} is more than {} matrices", n.shown(first ? 0 : 1), stack_products::most));
  n.require(form.elements() > 0, "its constant is empty");
  if (form[first ? rank - 1 : rank - 2] != to[first ? rank - 2 : rank - 1])
    n.refuse(fmt::format("its operands {} and {} do not fit", n.shown(0), n.shown(1)));
  x = reshape_unless(n, x, to);
  if (first) x = swap_last_axes(n, x);
  int y = stack_products{n, w, form, first}.multiply(x, 0, 0);
  if (first) y = swap_last_axes(n, y);
  shape result;
  for (int a = 0; a < rank; ++a)
    if (!(a == rank - 2 && (first ? of : in).rank == 1) && !(a == rank - 1 && (first ? in : of).rank == 1))
      result.push_back(n.shape_of(y)[a]);
  n.result(reshape_unless(n, y, result));
}

void import_mat_mul(node_context& n) {
  if (n.is_constant(0)) return import_stack(n, true);
  if (!n.is_constant(1)) return n.result(multiply_matrices(n, n.activation(0), n.activation(1)));
  const int x = n.activation(0);
  const shape in = n.shape_of(x);
  const constant& w = n.data(1, "second operand");
  const shape matrix = shape_of(w);
  n.require(in.rank >= 1 && matrix.rank >= 1, "one of its operands is a scalar");
  const bool vector = matrix.rank == 1;
  // If axes before the last two have extent 1, all of x is multiplied by the same matrix.
  if (matrix.product(0, matrix.rank - 2) != 1) return import_stack(n, false);
  const mat_mul op{.columns = vector ? 1 : matrix[matrix.rank - 1], .depth = matrix[vector ? 0 : matrix.rank - 2]};
  if (op.depth != in[in.rank - 1])
    n.refuse(fmt::format("the last axis of its input {} has {} elements, its weights {} expect {}", literal(in),
                         in[in.rank - 1], n.shown(1), op.depth));
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

const importer known_mat_mul(
    "MatMul", import_mat_mul, 1, "",
    "at most 64 constant matrices, which become Slices, MatMuls and Concats; two activations become Einsum");

}  // namespace
}  // namespace onnx2hpp
