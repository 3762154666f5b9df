// Functions of each element, and Pow by a constant number.
#include "ops/binary.hpp"
#include "ops/layers.hpp"

#include "dice/graph/ops/elementwise.hpp"

namespace onnx2hpp {

using dice::ops::elementwise;
using kind = dice::graph::activation::kind;

int function_layer(node_context& n, int x, const dice::graph::activation& f) {
  return n.add(elementwise{.function = f}, {x});
}

namespace {

template <kind Is> void import_function(node_context& n) {
  n.result(n.add(elementwise{.function = {Is}}, {n.activation(0)}));
}
/// With the attribute alpha.
template <kind Is> void import_with_alpha(node_context& n, float alpha) {
  n.result(n.add(elementwise{.function = {Is, n.real("alpha", alpha)}}, {n.activation(0)}));
}

void import_gelu(node_context& n) {
  const auto how = n.text("approximate", "none");
  if (how != "none" && how != "tanh") n.refuse("its attribute approximate is " + quote(how));
  n.result(n.add(elementwise{.function = {how == "tanh" ? kind::gelu_tanh : kind::gelu}}, {n.activation(0)}));
}

/// The gate's Swish times the other input.
void import_swi_glu(node_context& n) {
  const int a = n.activation(0), b = n.activation(1);
  n.require(n.shape_of(a) == n.shape_of(b), "its inputs have different shapes");
  n.result(multiply_layers(n, n.add(elementwise{.function = {kind::swish, n.real("alpha", 1.0f)}}, {a}), b));
}

void import_selu(node_context& n) {
  const float alpha = n.real("alpha", 1.67326319217681884765625f), gamma = n.real("gamma", 1.05070102214813232421875f);
  n.result(n.add(elementwise{.function = {kind::selu, alpha, gamma}}, {n.activation(0)}));
}

void import_celu(node_context& n) {
  const float alpha = n.real("alpha", 1.0f);
  n.require(alpha != 0, "its attribute alpha is 0");
  n.result(n.add(elementwise{.function = {kind::celu, alpha}}, {n.activation(0)}));
}

void import_pow(node_context& n) {
  if (!n.is_constant(1) || shape_of(n.data(1, "exponent")).elements() != 1) return import_binary<dice::ops::pow>(n);
  const int base = n.activation(0);
  shape to;  // with as many axes as the exponent
  for (int a = n.shape_of(base).rank; a < n.data(1, "exponent").rank(); ++a) to.push_back(1);
  for (int a = 0; a < n.shape_of(base).rank; ++a) to.push_back(n.shape_of(base)[a]);
  const double exponent = n.real(1, "exponent");
  if (exponent == 1 && to == n.shape_of(base)) return n.pass();
  const int x = reshape_unless(n, base, to);
  if (exponent == 1) return n.result(x);
  if (exponent == 2) return n.result(multiply_layers(n, x, x));
  if (exponent == 0.5) return n.result(function_layer(n, x, {kind::sqrt}));
  if (exponent == -1) return n.result(function_layer(n, x, {kind::reciprocal}));
  n.result(power(n, x, exponent));
}

const importer known_elementwise[] = {
    {"Abs", import_function<kind::abs>, 1, ""},
    {"Ceil", import_function<kind::ceil>, 1, ""},
    {"Celu", import_celu, 12, "alpha"},
    {"Erf", import_function<kind::erf>, 9, ""},
    {"Exp", import_function<kind::exp>, 1, ""},
    {"Floor", import_function<kind::floor>, 1, ""},
    {"Gelu", import_gelu, 20, "approximate", "also written as x · (1 + Erf(x / √2)) / 2, or by Tanh"},
    {"Log", import_function<kind::log>, 1, ""},
    {"Mish", import_function<kind::mish>, 18, "", "also written as x · Tanh(Softplus(x))"},
    {"Neg", import_function<kind::neg>, 1, ""},
    {"Pow", import_pow, 1, "", "the constant exponents 2, 0.5 and -1 become Mul, Sqrt and Reciprocal"},
    {"Reciprocal", import_function<kind::reciprocal>, 1, ""},
    {"Round", import_function<kind::round>, 11, ""},
    {"Selu", import_selu, 1, "alpha gamma"},
    {"Sign", import_function<kind::sign>, 9, ""},
    {"Softplus", import_function<kind::softplus>, 1, ""},
    {"Softsign", import_function<kind::softsign>, 1, ""},
    {"Sqrt", import_function<kind::sqrt>, 1, ""},
    {"SwiGLU", import_swi_glu, 28, "alpha", "two activations of one shape; becomes Swish and Mul"},
    {"Swish", [](node_context& n) { import_with_alpha<kind::swish>(n, 1.0f); }, 24, "alpha",
     "also written as x · Sigmoid(x)"},
    {"ThresholdedRelu", [](node_context& n) { import_with_alpha<kind::thresholded_relu>(n, 1.0f); }, 10, "alpha"}};

}  // namespace
}  // namespace onnx2hpp
