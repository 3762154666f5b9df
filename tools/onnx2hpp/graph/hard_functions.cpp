// HardSigmoid and HardSwish from their parts: relu6(x + 3) / 6, and the same times x.
#include "graph/passes.hpp"
#include "ops/functions.hpp"

#include "dice/graph/ops/binary.hpp"
#include "dice/graph/ops/clip.hpp"

#include <cmath>
#include <optional>
#include <utility>

namespace onnx2hpp {

namespace {

namespace ops = dice::ops;

class hard_functions {
 public:
  explicit hard_functions(network& net) : net_(net) {}

  void run() {
    for (std::size_t i = 0; i < net_.layers.size(); ++i) {
      const auto p = product_of(static_cast<int>(i), 0);
      if (p.factors.empty() || std::abs(p.number * 6 - 1) > 1e-5) continue;
      if (p.factors.size() == 1) {
        if (const int x = input_of(p.factors[0]); x >= 0) set(i, hard_sigmoid_of(1.f / 6, 0.5f), x);
      } else if (p.factors.size() == 2) {
        for (const int k : {0, 1})
          if (const int x = p.factors[static_cast<std::size_t>(k)];
              input_of(p.factors[static_cast<std::size_t>(1 - k)]) == x)
            set(i, hard_swish_of(), x);
      }
    }
  }

 private:
  struct product {
    std::vector<int> factors;
    double number = 1;
  };

  const layer& at(int l) const { return net_.layers[static_cast<std::size_t>(l)]; }
  void set(std::size_t i, operation op, int x) {
    auto& l = net_.layers[i];
    if (at(x).result == l.result) l.op = std::move(op), l.operands = {x}, l.parameters.clear();
  }

  /// The number with which layer `l`, an Op, combines its input; `second`: only if it is the second operand.
  template <class Op> std::optional<double> number(int l, bool second = false) const {
    const auto* op = at(l).op.get_if<Op>();
    if (!op || op->which == ops::constant::none || op->fixed.elements() != 1) return {};
    if (second && op->which != ops::constant::second) return {};
    return reals(at(l).parameters[0].source)[0];
  }

  /// The factors of layer `l`, in Muls and Divs up to three deep; itself if it is none.
  product product_of(int l, int depth) const {
    const auto times = number<ops::mul>(l), over = number<ops::div>(l, true);
    const auto* mul = at(l).op.get_if<ops::mul>();
    const bool two = mul && mul->which == ops::constant::none;
    if (depth > 3 || (!times && !over && !two)) return {depth > 0 ? std::vector<int>{l} : std::vector<int>{}};
    product out{{}, times.value_or(1) / over.value_or(1)};
    for (const int k : at(l).operands) {
      const auto of = product_of(k, depth + 1);
      out.factors.insert(out.factors.end(), of.factors.begin(), of.factors.end());
      out.number *= of.number;
    }
    return out;
  }

  /// x if layer `l` is relu6(x + 3); else -1.
  int input_of(int l) const {
    const auto* clip = at(l).op.get_if<ops::clip>();
    if (!clip || clip->low != 0 || clip->high != 6) return -1;
    const int sum = at(l).operands[0];
    return number<ops::add>(sum) == 3.0 ? at(sum).operands[0] : -1;
  }

  network& net_;
};

}  // namespace

void join_hard_functions(network& net) { hard_functions(net).run(); }

}  // namespace onnx2hpp
