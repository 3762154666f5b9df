#include "ops/layers.hpp"

#include "dice/graph/ops/gemm.hpp"
#include "dice/graph/ops/mat_mul.hpp"

#include <fmt/format.h>

namespace onnx2hpp {

using dice::ops::gemm;

namespace {

constant scaled(const constant& c, double factor) {
  if (factor == 1) return c;
  auto values = reals(c);
  for (double& v : values) v *= factor;
  return make_constant(element::float32, c.dims, values);
}

/// Whether `c` adds the same row to each of `rows` rows: shapes (columns), (1, columns), (1), (1, 1) and ().
bool one_row(const constant& c, std::int64_t rows) { return c.rank() < 2 || c.dims[0] == 1 || rows == 1; }

/// The constant as one row; a single element is repeated for all columns.
constant spread(const constant& c, std::int64_t columns) {
  auto values = reals(c);
  if (values.size() == 1) values.resize(static_cast<std::size_t>(columns), values[0]);
  return make_constant(element::float32, {columns}, values);
}

/// A MatMul if there are several rows: their kernels use each weight for many of them.
int product(node_context& n, const gemm& op, int x, std::vector<parameter> parameters) {
  if (n.shape_of(x)[0] == 1) return n.add(op, {x}, std::move(parameters));
  return n.add(dice::ops::mat_mul{op.columns, op.depth, op.bias}, {x}, std::move(parameters));
}

void import_gemm(node_context& n) {
  int x = n.activation(0);
  const constant& b = n.data(1, "weights");
  if (n.shape_of(x).rank != 2 || b.rank() != 2)
    n.refuse(fmt::format("its operands have {} and {} axes, expected two", n.shape_of(x).rank, b.rank()));
  if (n.integer("transA", 0) != 0) x = transpose_matrix(n, x);
  const shape in = n.shape_of(x);
  const bool transposed = n.integer("transB", 0) == 0;
  const double alpha = n.real("alpha", 1.0f), beta = n.real("beta", 1.0f);
  const gemm plain{.columns = b.dims[transposed ? 1 : 0], .depth = b.dims[transposed ? 0 : 1]};
  if (plain.depth != in[1])
    n.refuse(
        fmt::format("its input {} has {} columns, its weights {} expect {}", literal(in), in[1], n.shown(1), plain.depth));
  gemm op = plain;
  std::vector<parameter> parameters{{"weight", b, {op.columns, op.depth}, transposed, alpha}};
  if (!n.given(2) || beta == 0) {
    n.ignore_input(2);
    n.result(product(n, op, x, std::move(parameters)));
  } else if (!n.is_constant(2)) {
    const int y = product(n, op, x, std::move(parameters));
    const int c = n.activation(2);
    n.result(add_layers(n, y, beta == 1 ? c : multiply(n, c, beta)));
  } else {
    const constant& c = n.data(2, "bias");
    const shape s = shape_of(c);
    const std::int64_t last = s.rank == 0 ? 1 : s[s.rank - 1];
    if (s.rank > 2 || (last != 1 && last != op.columns) || (s.rank == 2 && s[0] != 1 && s[0] != in[0]))
      n.refuse(fmt::format("its bias {} does not fit an output of {}", n.shown(2), literal(shape{in[0], op.columns})));
    if (one_row(c, in[0])) {
      op.bias = true;
      // Unchanged if possible: the file's bytes then need no copy.
      constant bias = c.elements() == op.columns ? scaled(c, beta) : spread(scaled(c, beta), op.columns);
      parameters.push_back({"bias", std::move(bias), {op.columns}});
      n.result(product(n, op, x, std::move(parameters)));
    } else {
      n.result(add_bias(n, product(n, op, x, std::move(parameters)), scaled(c, beta)));
    }
  }
}

const importer known_gemm(
    "Gemm", import_gemm, 1, "alpha beta transA transB",
    "B constant; becomes MatMul if A has several rows, and also Transpose, Mul and Add if A is transposed "
    "or C is not a constant row");

}  // namespace
}  // namespace onnx2hpp
