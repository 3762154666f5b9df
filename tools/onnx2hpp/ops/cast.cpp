#include "ops/layers.hpp"

#include <fmt/format.h>

namespace onnx2hpp {

using kind = dice::graph::activation::kind;

namespace {

/// x, which stands for integers, within the limits of their type, if it may lie beyond them. NaN passes, and so do numbers
/// that int64 does not hold.
int within_limits(node_context& n, int x, const numbers& is) {
  const auto all = integers_of(is.type);
  const bool beyond = !is.rounded && is.type != element::int64 && all && is.least == all->least && is.most == all->most;
  return beyond ? clip_layer(n, x, is.least, is.most) : x;
}

/// x rounded towards 0, and 0 for NaN: the integers that it stands for.
int whole_numbers(node_context& n, int x, const numbers& is) {
  x = within_limits(n, replace_nan(n, x, 0), is);
  if (is.least >= 0) return function_layer(n, x, {kind::floor});
  const int sign = function_layer(n, x, {kind::sign});
  return multiply_layers(n, sign, function_layer(n, function_layer(n, x, {kind::abs}), {kind::floor}));
}

/// Whether each element of x is not 0; NaN is not.
int true_or_false(node_context& n, int x, const numbers& is) {
  if (is.type == element::float32) x = replace_nan(n, x, 1);
  else if (!is.rounded) x = whole_numbers(n, x, is);
  x = function_layer(n, x, {kind::sign});
  return is.type != element::float32 && is.least >= 0 ? x : function_layer(n, x, {kind::abs});
}

/// Activations are float32, whatever real type the model has: casting one to another does nothing. Reals become integers
/// where they leave the network, which saturates, or become reals again.
void cast_activation(node_context& n, element to) {
  int x = n.moved(0);
  const auto from = n.holds();
  const bool counted = from.or_nan && to != element::boolean;  // no longer as a bool, of which NaN is false
  if (counted) x = replace_nan(n, x, 0);
  const auto whole = integers_of(to);
  if (to == element::boolean && from.type != element::boolean) {
    x = true_or_false(n, x, from);
    n.holds(*whole);
  } else if (whole && from.type == element::float32) {
    n.holds({.type = to, .least = whole->least, .most = whole->most, .rounded = false});
  } else if (whole) {
    if (from.least < whole->least || from.most > whole->most)
      n.refuse(fmt::format("its input holds {}, which may not fit into {}", name_of(from.type), name_of(to)),
               "export the model with a Cast to " + name_of(from.type));
    if (to != from.type) x = within_limits(n, x, from);
    numbers holds = from;
    holds.type = to;
    holds.or_nan = from.or_nan && !counted;
    n.holds(holds);
  } else {
    if (!is_real(to)) n.refuse("it turns an activation into " + name_of(to) + "; dice computes in float32");
    if (!from.rounded) x = whole_numbers(n, x, from);
    n.holds({});
  }
  n.result(x);
}

void cast_constant(node_context& n, element to) {
  const constant& c = n.data(0, "input");
  if (size_of(to) == 0 || packed_bits(to)) n.refuse("casting to " + name_of(to) + " is not supported");
  if (is_half(to)) to = element::float32;
  if (to == c.type) return n.result(c);
  // Integers stay exact; those of uint64 may be too large for int64. A real becomes true unless it is 0: 0.5 is true.
  const bool as_reals = is_real(c.type) || (c.type == element::uint64 && is_real(to));
  n.result(as_reals ? make_constant(to, c.dims, reals(c)) : make_constant(to, c.dims, integers(c)));
}

element stated(node_context& n) {
  n.ignore({"saturate", "round_mode"});  // only for types of 8 bits
  return static_cast<element>(n.integer("to", 0));
}

void import_cast(node_context& n) { cast_activation(n, stated(n)); }
void fold_cast(node_context& n) { cast_constant(n, stated(n)); }

/// CastLike: casts to the type of input 1; nothing else of that input is read. PyTorch's dynamo exporter writes it around
/// BatchNormalization if it does not optimise.
void cast_like(node_context& n) {
  n.ignore({"saturate", "round_mode"});  // only for types of 8 bits
  element to = n.is_constant(1) ? n.data(1, "target_type").type : n.numbers_of(1).type;
  // A real constant stays what it is, like a real activation: the model may be one of DOUBLE.
  if (!n.is_constant(1) && is_real(to) && n.is_constant(0) && is_real(n.data(0, "input").type)) to = n.data(0, "input").type;
  n.is_constant(0) ? cast_constant(n, to) : cast_activation(n, to);
}

const importer known_cast[] = {{"Cast", import_cast, 1, "round_mode>=24 saturate>=19 to",
                                "activations: to a real type, which does nothing to reals, to integers and to bool"},
                               {"CastLike", cast_like, 15, "round_mode>=24 saturate>=19",
                                "activations: to a real type, which does nothing to reals, to integers and to bool"}};
const folder folds_cast[] = {{"Cast", fold_cast}, {"CastLike", cast_like}};

}  // namespace
}  // namespace onnx2hpp
