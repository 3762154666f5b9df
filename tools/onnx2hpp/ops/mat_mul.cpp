#include "ops/binary.hpp"
#include "ops/layers.hpp"

#include "dice/graph/ops/mat_mul.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace onnx2hpp {

using dice::ops::mat_mul;

int multiply_by_matrix(node_context& n, int x, const constant& w, bool transposed) {
  const auto rows = w.dims[0], columns = w.dims[1];
  const mat_mul op = transposed ? mat_mul{.columns = columns, .depth = rows} : mat_mul{.columns = rows, .depth = columns};
  return n.add(op, {x}, {{"weight", w, {op.columns, op.depth}, transposed}});
}

namespace {

/// Products of a layer with the matrices of a constant stack, which has as many axes as the layer.
struct stack_products {
  static constexpr std::int64_t most = 8;  ///< each is a layer, which costs users compile time

  node_context& n;
  const constant& stack;
  const shape form;
  const bool first;  ///< the constants are the first operands; then those of the layers are transposed

  /// x times the matrices from number `k` on, of which the axes before `axis` have been chosen.
  int multiply(int x, int axis, std::int64_t k) const {
    if (axis + 2 == form.rank) return multiply_by_matrix(n, x, matrix(k), !first);
    const auto extent = form[axis], own = n.shape_of(x)[axis];
    n.require(extent == 1 || own == 1 || own == extent, "the stacks of its matrices differ");
    std::vector<int> parts;
    for (std::int64_t i = 0; i < extent; ++i)
      parts.push_back(multiply(extent > 1 && own > 1 ? slice_layer(n, x, axis, i, 1) : x, axis + 1, k * extent + i));
    return parts.size() == 1 ? parts[0] : concat_layer(n, parts, axis);
  }

 private:
  constant matrix(std::int64_t k) const {
    const auto rows = form[form.rank - 2], columns = form[form.rank - 1];
    const auto bytes = static_cast<std::size_t>(rows * columns) * size_of(stack.type);
    return {stack.type, {rows, columns}, stack.bytes.subspan(static_cast<std::size_t>(k) * bytes, bytes), stack.owner};
  }
};

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

/// A layer by a few constant matrices (or the reverse: `first`), as products by one matrix each.
int multiply_by_each(node_context& n, int x, const constant& w, bool first) {
  const shape in = n.shape_of(x), of = shape_of(w);
  const int rank = std::max({in.rank, of.rank, 2});
  x = reshape_unless(n, x, as_stack(in, rank, !first));
  if (first) x = swap_last_axes(n, x);
  int y = stack_products{n, w, as_stack(of, rank, first), first}.multiply(x, 0, 0);
  if (first) y = swap_last_axes(n, y);
  shape result;
  for (int a = 0; a < rank; ++a)
    if (!(a == rank - 2 && (first ? of : in).rank == 1) && !(a == rank - 1 && (first ? in : of).rank == 1))
      result.push_back(n.shape_of(y)[a]);
  return reshape_unless(n, y, result);
}

void import_mat_mul(node_context& n) {
  const bool first = n.is_constant(0);
  if (!first && !n.is_constant(1)) return n.result(multiply_matrices(n, n.activation(0), n.activation(1)));
  const int x = n.activation(first ? 1 : 0);
  const constant& w = n.data(first ? 0 : 1, "operand");
  const shape in = n.shape_of(x), of = shape_of(w);
  n.require(in.rank >= 1 && of.rank >= 1, "one of its operands is a scalar");
  n.require(of.elements() > 0, "its constant is empty");
  const auto row = [](const shape& s) { return s[s.rank - 1]; };
  const auto column = [](const shape& s) { return s[s.rank == 1 ? 0 : s.rank - 2]; };
  if (row(first ? of : in) != column(first ? in : of))
    n.refuse(fmt::format("its operands {} and {} do not fit", n.shown(0), n.shown(1)));
  const auto matrices = of.product(0, of.rank - 2);
  if (matrices > stack_products::most)
    return n.result(multiply_matrices(n, x, w, first ? which_constant::first : which_constant::second));
  if (first || matrices > 1) return n.result(multiply_by_each(n, x, w, first));
  // If axes before the last two have extent 1, all of x is multiplied by the same matrix.
  const bool vector = of.rank == 1;
  constant matrix = w;
  matrix.dims = {column(of), vector ? 1 : row(of)};
  const int product = multiply_by_matrix(n, x, matrix, true);
  shape result;
  for (int a = std::max(in.rank, 2); a < of.rank; ++a) result.push_back(1);
  for (int a = 0; a < in.rank; ++a)
    if (!vector || a + 1 < in.rank) result.push_back(n.shape_of(product)[a]);
  n.result(reshape_unless(n, product, result));
}

const importer known_mat_mul(
    "MatMul", import_mat_mul, 1, "",
    "up to 8 constant matrices become Slices, MatMuls and Concats; more, and two activations, become Einsum");

}  // namespace
}  // namespace onnx2hpp
