// Functions that exporters write as several operators: SiLU (Swish), HardSigmoid, HardSwish, Mish and Gelu, each a product.
#include "graph/passes.hpp"
#include "graph/pattern.hpp"

#include "dice/graph/ops/binary.hpp"
#include "dice/graph/ops/clip.hpp"
#include "dice/graph/ops/elementwise.hpp"
#include "dice/graph/ops/hard_sigmoid.hpp"
#include "dice/graph/ops/hard_swish.hpp"
#include "dice/graph/ops/sigmoid.hpp"
#include "dice/graph/ops/tanh.hpp"

#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

namespace onnx2hpp {

namespace {

using kind = dice::graph::activation::kind;
namespace ops = dice::ops;

class matcher : pattern {
 public:
  using pattern::pattern;

  /// Layer `l` as an operation on one layer; none if it is not such a function.
  std::optional<std::pair<operation, int>> function_of(int l) const {
    if (!get<ops::mul>(l) && !get<ops::div>(l)) return {};
    if (const auto& of = at(l).operands; of.size() == 2 && get<ops::mul>(l))  // x may be a product itself
      if (auto found = function_of(product{of})) return found;
    return function_of(product_of(l));
  }

 private:
  std::optional<std::pair<operation, int>> function_of(const product& p) const {
    if (p.factors.size() == 1 && nearly(p.number, 1.0 / 6))
      if (const int x = relu6_of(p.factors[0]); x >= 0) return {{ops::hard_sigmoid{1.f / 6, 0.5f}, x}};
    if (p.factors.size() != 2) return {};
    for (const int k : {0, 1}) {
      const int x = p.factors[k], other = p.factors[1 - k];
      if (nearly(p.number, 1) && reads<ops::sigmoid>(other, x)) return {{ops::elementwise{{kind::swish, 1}}, x}};
      if (nearly(p.number, 0.5) && is_gelus_factor(other, x)) return {{ops::elementwise{{kind::gelu}}, x}};
      if (nearly(p.number, 0.5) && is_tanh_gelus_factor(other, x)) return {{ops::elementwise{{kind::gelu_tanh}}, x}};
      if (nearly(p.number, 1.0 / 6) && relu6_of(other) == x) return {{ops::hard_swish{}, x}};
      if (!nearly(p.number, 1)) continue;
      if (const auto* h = get<ops::hard_sigmoid>(other);
          h && operand(other) == x && nearly(h->alpha, 1.0 / 6) && h->beta == 0.5f)
        return {{ops::hard_swish{}, x}};
      if (get<ops::tanh>(other) && is(kind::softplus, operand(other)) && operand(operand(other)) == x)
        return {{ops::elementwise{{kind::mish}}, x}};
    }
    return {};
  }
  /// x if layer `l` is relu6(x + 3); else -1.
  int relu6_of(int l) const {
    const auto* clip = get<ops::clip>(l);
    if (!clip || clip->low != 0 || clip->high != 6) return -1;
    const int sum = operand(l);
    return number<ops::add>(sum) == 3.0 ? operand(sum) : -1;
  }
  /// 1 + erf(x / sqrt(2))
  bool is_gelus_factor(int l, int x) const {
    if (number<ops::add>(l) != 1.0 || !is(kind::erf, operand(l))) return false;
    const auto p = product_of(operand(operand(l)));
    return p.factors.size() == 1 && p.factors[0] == x && nearly(p.number, std::sqrt(0.5));
  }
  /// 1 + tanh(sqrt(2 / π) (x + 0.044715 x³)), or with x (1 + 0.044715 x²)
  bool is_tanh_gelus_factor(int l, int x) const {
    if (number<ops::add>(l) != 1.0 || !get<ops::tanh>(operand(l))) return false;
    const auto p = product_of(operand(operand(l)));
    if (!nearly(p.number, std::sqrt(2 / std::numbers::pi))) return false;
    if (p.factors.size() == 1) {
      const int sum = p.factors[0];
      const auto* add = get<ops::add>(sum);
      return add && add->which == ops::constant::none &&
             ((operand(sum) == x && is_power(operand(sum, 1), x, 3)) ||
              (operand(sum, 1) == x && is_power(operand(sum), x, 3)));
    }
    for (const std::size_t k : {0, 1})
      if (p.factors.size() == 2 && p.factors[k] == x)
        return number<ops::add>(p.factors[1 - k]) == 1.0 && is_power(operand(p.factors[1 - k]), x, 2);
    return false;
  }
  /// 0.044715 x to the power of n
  bool is_power(int l, int x, std::size_t n) const {
    const auto p = product_of(l);
    if (!nearly(p.number, 0.044715)) return false;
    if (p.factors.size() == 1)
      return get<ops::pow>(p.factors[0]) && operand(p.factors[0]) == x && exponent(p.factors[0]) == n;
    return p.factors == std::vector<int>(n, x);
  }
  std::optional<double> exponent(int l) const { return number<ops::pow>(l, ops::constant::second); }
};

}  // namespace

void join_functions(network& net) {
  for (std::size_t i = 0; i < net.layers.size(); ++i)
    if (auto found = matcher(net).function_of(static_cast<int>(i));
        found && net.layers[i].result == net.layers[found->second].result) {
      net.layers[i].op = std::move(found->first);
      net.layers[i].operands = {found->second};
      net.layers[i].parameters.clear();
    }
}

}  // namespace onnx2hpp
