// Functions of two elements: Add, Sub, Mul, Div, Max, Min, PRelu, Where, and Trilu.
#include "ops/binary.hpp"

#include "fold/broadcast.hpp"
#include "graph/pattern.hpp"
#include "ops/layers.hpp"
#include "ops/logic.hpp"

#include "dice/graph/ops/leaky_relu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace onnx2hpp {

namespace ops = dice::ops;

int add_bias(node_context& n, int x, const constant& c) {
  return add_with_constant<ops::add>(n, x, which_constant::second, c);
}
int add_layers(node_context& n, int a, int b) { return n.add(ops::add{}, {a, b}); }
int subtract_layers(node_context& n, int a, int b) { return n.add(ops::sub{}, {a, b}); }
int multiply_layers(node_context& n, int a, int b) { return n.add(ops::mul{}, {a, b}); }
int multiply(node_context& n, int x, const constant& c) {
  return add_with_constant<ops::mul>(n, x, which_constant::second, c);
}
int multiply(node_context& n, int x, double factor) {
  return multiply(n, x, make_constant(element::float32, {}, std::span(&factor, 1)));
}
int power(node_context& n, int x, double exponent) {
  return add_with_constant<ops::pow>(n, x, which_constant::second,
                                     make_constant(element::float32, {}, std::span(&exponent, 1)));
}
int replace(node_context& n, int x, const constant& otherwise) {
  return add_with_constant<ops::where>(n, x, which_constant::second, otherwise);
}
int replace_nan(node_context& n, int x, double otherwise) {
  return add_with_constant<ops::where>(n, x, which_constant::first,
                                       make_constant(element::float32, {}, std::span(&otherwise, 1)));
}

namespace {

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

void import_p_relu(node_context& n) {
  n.require(!n.is_constant(0), "its input is a constant, and its slope is not");
  if (!n.is_constant(1) || shape_of(n.data(1, "slope")).elements() != 1) return import_binary<ops::p_relu>(n);
  n.result(n.add(ops::leaky_relu{.alpha = static_cast<float>(n.real(1, "slope"))}, {n.activation(0)}));
}

/// A constant that replaces elements where `mask` is `where`: the value broadcast to both shapes; NaN elsewhere.
constant replacement(const constant& mask, bool where, const constant& value) {
  const auto dims = broadcast({mask.dims, value.dims});
  const auto flags = reals(mask), values = reals(value);
  const auto from_mask = broadcast_indices(mask.dims, dims), from_value = broadcast_indices(value.dims, dims);
  std::vector<double> out(folded_size(dims, "its condition and operand become a constant"),
                          std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < out.size(); ++i)
    if ((flags[from_mask[i]] != 0) == where) {
      out[i] = values[from_value[i]];
      if (std::isnan(out[i])) node_context::refuse("its constant operand has a NaN");
    }
  return make_constant(element::float32, dims, std::span<const double>(out));
}

/// If layer `l` says where a layer is NaN, as IsNaN's layers do, that layer; else -1.
int tested_for_nan(const network& net, int l) {
  const pattern p(net);
  using enum dice::ops::constant;  // clang 15 takes no alias of it
  const auto is = [&](std::optional<double> number, double n) { return number == n; };
  if (!is(p.number<ops::max>(l, second), 0)) return -1;
  if (l = p.operand(l); !is(p.number<ops::sub>(l, second), 1)) return -1;
  if (l = p.operand(l); !is(p.number<ops::where>(l, first), 2)) return -1;
  l = p.operand(l);
  return p.is(dice::graph::activation::kind::sign, l) ? p.operand(l) : -1;
}

/// Where(IsNaN(x), c, x), which exporters write behind the Softmax of an attention with a mask: a row without any key is
/// NaN.
bool replaces_nan(node_context& n) {
  if (n.is_constant(0) || !n.is_constant(1) || n.is_constant(2)) return false;
  const auto& condition = n.any(0);
  if (condition.index < 0 || tested_for_nan(n.layers(), condition.index) != n.any(2).index) return false;
  n.result(add_with_constant<ops::where>(n, n.activation(2), which_constant::first, n.data(1, "operand")));
  return true;
}

/// With a constant condition, or the condition that an operand is NaN. For two layers, it is the sum of both with zeros
/// where the other is taken.
void import_where(node_context& n) {
  if (replaces_nan(n)) return;
  if (!n.is_constant(0)) return import_where_by_mask(n);
  const constant& condition = n.data(0, "condition");
  if (n.is_constant(1)) return n.result(replace(n, n.activation(2), replacement(condition, true, n.data(1, "operand"))));
  if (n.is_constant(2)) return n.result(replace(n, n.activation(1), replacement(condition, false, n.data(2, "operand"))));
  const double zero = 0;
  const auto none = make_constant(element::float32, {}, std::span(&zero, 1));
  const int a = replace(n, n.activation(1), replacement(condition, false, none));
  n.result(add_layers(n, a, replace(n, n.activation(2), replacement(condition, true, none))));
}

/// Zeros above or below a diagonal of the last two axes.
void import_trilu(node_context& n) {
  const int x = n.moved(0);
  numbers holds = n.holds();
  holds.least = std::min(holds.least, 0.0);
  holds.most = std::max(holds.most, 0.0);
  n.holds(holds);
  const shape in = n.shape_of(x);
  n.require(in.rank >= 2, "its input is not a matrix");
  const auto k = n.given(1) ? n.integers(1, "diagonal") : std::vector<std::int64_t>{0};
  n.require(k.size() == 1, "its diagonal is not one number");
  const bool upper = n.integer("upper", 1) != 0;
  const auto rows = in[in.rank - 2], columns = in[in.rank - 1];
  std::vector<double> mask(folded_size({rows, columns}, "its triangle becomes a constant"),
                           std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      if (upper ? c - r < k[0] : c - r > k[0]) mask[r * columns + c] = 0;
  n.result(replace(n, x, make_constant(element::float32, {rows, columns}, std::span<const double>(mask))));
}

const importer known_binary[] = {{"Add", import_binary<ops::add>, 1, ""},
                                 {"Div", import_binary<ops::div>, 1, ""},
                                 {"Max", import_variadic<ops::max>, 1, ""},
                                 {"Min", import_variadic<ops::min>, 1, ""},
                                 {"Mul", import_binary<ops::mul>, 1, ""},
                                 {"PRelu", import_p_relu, 1, "", "becomes LeakyRelu if the slope is one constant number"},
                                 {"Sub", import_binary<ops::sub>, 1, ""},
                                 {"Trilu", import_trilu, 14, "upper", "k constant; becomes Where"},
                                 {"Where", import_where, 9, "",
                                  "becomes Where of an operand and NaN or numbers, and, between two activations, Add; of a "
                                  "condition computed at run time, "
                                  "also Sub, Div and Mul"}};

}  // namespace
}  // namespace onnx2hpp
