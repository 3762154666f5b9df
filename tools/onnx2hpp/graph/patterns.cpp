// Functions that exporters write as several operators: SiLU (Swish), HardSwish, Mish and Gelu, each a product.
#include "graph/passes.hpp"
#include "ops/functions.hpp"

#include "dice/graph/ops/binary.hpp"
#include "dice/graph/ops/elementwise.hpp"
#include "dice/graph/ops/hard_sigmoid.hpp"
#include "dice/graph/ops/sigmoid.hpp"
#include "dice/graph/ops/tanh.hpp"

#include <cmath>
#include <optional>

namespace onnx2hpp {

namespace {

using dice::ops::elementwise;
using kind = dice::graph::activation::kind;
namespace ops = dice::ops;

bool near(double a, double b) { return std::abs(a - b) <= 1e-5 * std::abs(b); }

/// A product of layers and a number.
struct product {
  std::vector<int> factors;
  double number = 1;
};

class matcher {
 public:
  explicit matcher(const network& net) : net_(net) {}

  /// Layer `at`, a Mul, as an operation on one layer; none if it is no such function.
  std::optional<std::pair<operation, int>> function_of(int at) const {
    product p;
    collect(at, 0, p);
    if (p.factors.size() != 2) return {};
    for (const int k : {0, 1}) {
      const int x = p.factors[static_cast<std::size_t>(k)], other = p.factors[static_cast<std::size_t>(1 - k)];
      if (near(p.number, 1) && reads<ops::sigmoid>(other, x)) return {{elementwise_of({kind::swish, 1}), x}};
      if (near(p.number, 0.5) && is_gelus_factor(other, x)) return {{elementwise_of({kind::gelu}), x}};
      if (!near(p.number, 1)) continue;
      if (const auto* h = get<ops::hard_sigmoid>(other);
          h && operand(other) == x && near(h->alpha, 1.0 / 6) && h->beta == 0.5f)
        return {{hard_swish_of(), x}};
      if (get<ops::tanh>(other) && is(kind::softplus, operand(other)) && operand(operand(other)) == x)
        return {{elementwise_of({kind::mish}), x}};
    }
    return {};
  }

 private:
  const layer& at(int l) const { return net_.layers[static_cast<std::size_t>(l)]; }
  int operand(int l) const { return at(l).operands[0]; }
  template <class Op> const Op* get(int l) const { return at(l).op.get_if<Op>(); }
  template <class Op> bool reads(int l, int x) const { return get<Op>(l) && operand(l) == x; }
  bool is(kind k, int l) const {
    const auto* e = get<elementwise>(l);
    return e && e->function.is == k;
  }
  /// The number with which a binary operator combines its operand (`which` says in which place).
  template <class Op> std::optional<double> number(int l, ops::constant which) const {
    const auto* op = get<Op>(l);
    if (!op || op->which == ops::constant::none || op->fixed.elements() != 1) return {};
    if (which != ops::constant::none && op->which != which) return {};
    return reals(at(l).parameters[0].source)[0];
  }
  /// The factors of layer `l` if it is a Mul whose result has the shape of each factor.
  void collect(int l, int depth, product& p) const {
    const auto* mul = get<ops::mul>(l);
    if (!mul || depth > 3) return p.factors.push_back(l);
    const auto n = number<ops::mul>(l, ops::constant::none);
    if (!n && mul->which != ops::constant::none) return p.factors.push_back(l);
    for (const int k : at(l).operands)
      if (at(k).result != at(l).result) return p.factors.push_back(l);
    p.number *= n.value_or(1);
    for (const int k : at(l).operands) collect(k, depth + 1, p);
  }
  /// 1 + erf(x / sqrt(2))
  bool is_gelus_factor(int l, int x) const {
    const auto one = number<ops::add>(l, ops::constant::none);
    if (!one || *one != 1 || !is(kind::erf, operand(l))) return false;
    const int scaled = operand(operand(l));
    const auto by = number<ops::mul>(scaled, ops::constant::none), over = number<ops::div>(scaled, ops::constant::second);
    return ((by && near(*by, std::sqrt(0.5))) || (over && near(*over, std::sqrt(2)))) && operand(scaled) == x;
  }

  const network& net_;
};

}  // namespace

void join_functions(network& net) {
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    if (!net.layers[i].op.get_if<ops::mul>()) continue;
    if (auto found = matcher(net).function_of(static_cast<int>(i))) {
      net.layers[i].op = std::move(found->first);
      net.layers[i].operands = {found->second};
      net.layers[i].parameters.clear();
    }
  }
}

}  // namespace onnx2hpp
