// Bools computed at run time, or given as an input: 0 and 1 in float32. And, Or, Xor, Not, and Where between two operands.
#include "ops/logic.hpp"

#include "ops/binary.hpp"
#include "ops/layers.hpp"

#include <algorithm>
#include <cmath>

namespace onnx2hpp {

namespace ops = dice::ops;

int mask_of(node_context& n, int k) {
  const value& v = n.any(k);
  if (v.index < 0 || v.holds.type != element::boolean)
    n.refuse("its input " + quote(n.self().inputs[k]) + " holds no bools");
  return v.holds.or_nan ? replace_nan(n, v.index, 0) : v.index;
}

namespace {

constant logic_number(double x) { return make_constant(element::float32, {}, std::span<const double>(&x, 1)); }

int unless_mask(node_context& n, int mask) {
  return add_with_constant<ops::sub>(n, mask, which_constant::first, logic_number(1));
}

/// Makes layer x, bools, the node's output.
void gives_bools(node_context& n, int x) {
  n.holds({.type = element::boolean, .most = 1});
  n.result(x);
}

/// Op of two operands, of which one may be a constant.
template <class Op> int of_masks(node_context& n) {
  for (const int k : {0, 1})
    if (n.is_constant(k)) {
      const constant& c = n.data(k, "operand");
      n.require(c.type == element::boolean, "its constant operand holds no bools");
      return add_with_constant<Op>(n, mask_of(n, 1 - k), which_constant::second, c);
    }
  return n.add(Op{}, {mask_of(n, 0), mask_of(n, 1)});
}

void import_and(node_context& n) { gives_bools(n, of_masks<ops::min>(n)); }
void import_or(node_context& n) { gives_bools(n, of_masks<ops::max>(n)); }
void import_xor(node_context& n) {
  gives_bools(n, function_layer(n, of_masks<ops::sub>(n), {dice::graph::activation::kind::abs}));
}
void import_not(node_context& n) { gives_bools(n, unless_mask(n, mask_of(n, 0))); }

/// x where `unset` is 0, else 0, whatever x is there: the other number of the layer Where is NaN (0 / 0) or 0 (0 / 1).
int masked_or_zero(node_context& n, int unset, int x) {
  return n.add(ops::where{}, {x, add_with_constant<ops::div>(n, unset, which_constant::first, logic_number(0))});
}
/// A constant where `mask` is 1, else NaN: times 1 / 1 or 0 / 0.
int masked_or_nan(node_context& n, int mask, const constant& c) {
  n.require(std::ranges::none_of(reals(c), [](double x) { return std::isnan(x); }), "its constant operand has a NaN");
  return multiply(n, n.add(ops::div{}, {mask, mask}), c);
}

}  // namespace

int where_mask(node_context& n, int mask, int x, double otherwise) {
  return n.add(ops::where{}, {x, masked_or_nan(n, unless_mask(n, mask), logic_number(otherwise))});
}

void import_where_by_mask(node_context& n) {
  const int mask = mask_of(n, 0);
  for (const int k : {1, 2})
    if (n.is_constant(k)) n.require(is_real(n.data(k, "operand").type), "its operands are not real numbers");
  if (n.is_constant(1) && n.is_constant(2))
    n.result(add_with_constant<ops::where>(n, masked_or_nan(n, mask, n.data(1, "operand")), which_constant::first,
                                           n.data(2, "operand")));
  else if (n.is_constant(1)) n.result(n.add(ops::where{}, {n.activation(2), masked_or_nan(n, mask, n.data(1, "operand"))}));
  else if (n.is_constant(2))
    n.result(n.add(ops::where{}, {n.activation(1), masked_or_nan(n, unless_mask(n, mask), n.data(2, "operand"))}));
  else
    n.result(
        add_layers(n, masked_or_zero(n, unless_mask(n, mask), n.activation(1)), masked_or_zero(n, mask, n.activation(2))));
}

namespace {

const importer known_logic[] = {{"And", import_and, 1, "", "of bools computed at run time, becomes Min"},
                                {"Not", import_not, 1, "", "of bools computed at run time, becomes Sub"},
                                {"Or", import_or, 1, "", "of bools computed at run time, becomes Max"},
                                {"Xor", import_xor, 1, "", "of bools computed at run time, becomes Sub and Abs"}};

}  // namespace
}  // namespace onnx2hpp
