// Greater, Less, GreaterOrEqual, LessOrEqual and Equal: the sign of a difference, which is exact. Where an operand is NaN,
// the result is NaN within the network, and false in an output. IsNaN.
#include "ops/binary.hpp"
#include "ops/layers.hpp"

#include <algorithm>
#include <cmath>

namespace onnx2hpp {

namespace {

namespace ops = dice::ops;
using kind = dice::graph::activation::kind;

constant number(double x) { return make_constant(element::float32, {}, std::span<const double>(&x, 1)); }

/// The sign of operand `a` minus operand `b`. If `equal` counts, infinite operands would not be told apart.
int sign_of_difference(node_context& n, int a, int b, bool equal) {
  n.require(!n.is_constant(a) || !n.is_constant(b), "both operands are constants");
  int difference = 0;
  if (n.is_constant(a) || n.is_constant(b)) {
    const constant& c = n.data(n.is_constant(a) ? a : b, "operand");
    const auto finite = [](double x) { return std::isfinite(static_cast<float>(x)); };
    n.require(std::ranges::all_of(reals(c), finite), "its constant has numbers that are not finite");
    difference = n.is_constant(a) ? add_with_constant<ops::sub>(n, n.activation(b), which_constant::first, c)
                                  : add_with_constant<ops::sub>(n, n.activation(a), which_constant::second, c);
  } else {
    n.require(!equal, "it compares two activations; only Greater and Less can");
    difference = subtract_layers(n, n.activation(a), n.activation(b));
  }
  return function_layer(n, difference, {kind::sign});
}

/// Whether operand `A` is larger than the other one; or not, if `Not`.
template <int A, bool Not> void import_larger(node_context& n) {
  const int sign = sign_of_difference(n, A, 1 - A, Not);
  int result = add_with_constant<ops::max>(n, sign, which_constant::second, number(0));
  if (Not) result = add_with_constant<ops::sub>(n, result, which_constant::first, number(1));
  n.holds({.type = element::boolean, .most = 1, .or_nan = true});
  n.result(result);
}

void import_equal(node_context& n) {
  const int differs = function_layer(n, sign_of_difference(n, 0, 1, true), {kind::abs});
  n.holds({.type = element::boolean, .most = 1, .or_nan = true});
  n.result(add_with_constant<ops::sub>(n, differs, which_constant::first, number(1)));
}

/// The sign, 2 instead of NaN, less 1, and at least 0. Where recognises it.
void import_is_nan(node_context& n) {
  int x = function_layer(n, n.activation(0), {kind::sign});
  x = add_with_constant<ops::where>(n, x, which_constant::first, number(2));
  x = add_with_constant<ops::sub>(n, x, which_constant::second, number(1));
  n.holds({.type = element::boolean, .most = 1});
  n.result(add_with_constant<ops::max>(n, x, which_constant::second, number(0)));
}

const importer known_compare[] = {
    {"Equal", import_equal, 1, "", "one finite constant operand; gives bool; becomes Sub, Sign, Abs, Sub"},
    {"Greater", import_larger<0, false>, 1, "", "gives bool; becomes Sub, Sign, Max"},
    {"GreaterOrEqual", import_larger<1, true>, 12, "",
     "one finite constant operand; gives bool; becomes Sub, Sign, Max, Sub"},
    {"IsNaN", import_is_nan, 9, "", "gives bool; becomes Sign, Where, Sub, Max"},
    {"Less", import_larger<1, false>, 1, "", "gives bool; becomes Sub, Sign, Max"},
    {"LessOrEqual", import_larger<0, true>, 12, "", "one finite constant operand; gives bool; becomes Sub, Sign, Max, Sub"}};

}  // namespace
}  // namespace onnx2hpp
