// Queries about a network's layers, for passes that look for functions written as several operators.
#pragma once

#include "graph/network.hpp"

#include "dice/graph/ops/binary.hpp"
#include "dice/graph/ops/elementwise.hpp"

#include <optional>
#include <vector>

namespace onnx2hpp {

class pattern {
 public:
  explicit pattern(const network& net) : net_(net) {}

  const layer& at(int l) const { return net_.layers[l]; }
  int operand(int l, std::size_t k = 0) const { return at(l).operands[k]; }
  template <class Op> const Op* get(int l) const { return at(l).op.get_if<Op>(); }
  template <class Op> bool reads(int l, int x) const { return get<Op>(l) && operand(l) == x; }
  bool is(dice::graph::activation::kind k, int l) const {
    const auto* e = get<dice::ops::elementwise>(l);
    return e && e->function.is == k;
  }
  /// The number with which layer `l`, a binary operator, combines its operand, whose shape it has (a constant of more axes
  /// would add some); `which`: only if it is this operand.
  template <class Op> std::optional<double> number(int l, dice::ops::constant which = dice::ops::constant::none) const {
    using dice::ops::constant;
    const auto* op = get<Op>(l);
    if (!op || op->which == constant::none || op->fixed.elements() != 1) return {};
    if ((which != constant::none && op->which != which) || at(l).result != at(operand(l)).result) return {};
    return reals(at(l).parameters[0].source)[0];
  }

  /// A product of layers, all of one shape, and a number.
  struct product {
    std::vector<int> factors;
    double number = 1;
  };
  /// The factors of layer `l`, through Mul and Div by a number, up to four deep; only itself if it is neither.
  product product_of(int l, int depth = 0) const {
    const auto times = number<dice::ops::mul>(l), over = number<dice::ops::div>(l, dice::ops::constant::second);
    const auto* mul = get<dice::ops::mul>(l);
    const bool two = mul && mul->which == dice::ops::constant::none;
    if (depth > 3 || (!times && !over && !two)) return {{l}};
    for (const int k : at(l).operands)
      if (at(k).result != at(l).result) return {{l}};
    product out{{}, times.value_or(1) / over.value_or(1)};
    for (const int k : at(l).operands) {
      const auto of = product_of(k, depth + 1);
      out.factors.insert(out.factors.end(), of.factors.begin(), of.factors.end());
      out.number *= of.number;
    }
    return out;
  }

 private:
  const network& net_;
};

/// Whether two numbers are equal up to the digits that exporters print.
inline bool nearly(double a, double b) { return (a > b ? a - b : b - a) <= 1e-5 * (b < 0 ? -b : b); }

}  // namespace onnx2hpp
