// Normalizations that exporters write as several operators, and the scale and bias after a normalization, as PyTorch writes
// its GroupNorm: Reshape, InstanceNormalization, Reshape, Mul, Add.
#include "graph/passes.hpp"
#include "graph/pattern.hpp"

#include "dice/graph/ops/normalization.hpp"
#include "dice/graph/ops/reduce.hpp"
#include "dice/graph/ops/reshape.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace onnx2hpp {

namespace {

namespace ops = dice::ops;
using kind = dice::graph::activation::kind;

class finder : pattern {
 public:
  explicit finder(const network& net) : pattern(net), readers_(net.layers.size()) {
    for (const auto& l : net.layers) count(l, 1);
  }

  /// (x - mean) / sqrt(mean((x - mean)²) + epsilon), or x / sqrt(mean(x²) + epsilon), with x.
  std::optional<std::pair<ops::normalization, int>> quotient(int l) const {
    const auto [x, root] = fraction(l);
    if (root < 0) return {};
    const int sum = operand(root);
    const auto epsilon = number<ops::add>(sum);
    if (!epsilon || !(*epsilon >= 0)) return {};
    const auto variance = mean(operand(sum));
    if (!variance || !is_square(operand(operand(sum)), x)) return {};
    ops::normalization out = *variance;
    out.epsilon = static_cast<float>(*epsilon);
    if (const auto centre = centred(x)) {
      if (centre->first.first != out.first || centre->first.last != out.last) return {};
      return {{out, centre->second}};
    }
    out.how = ops::normalizing::rms;
    out.onnx = ops::normalization{.how = out.how}.onnx;
    return {{out, x}};
  }

  /// The normalization with layer `l` as its scale or bias, a constant of shape `fixed`; none unless layer `before` is a
  /// normalization that lacks it and that nothing else reads.
  std::optional<ops::normalization> affine(int l, int before, const shape& fixed) const {
    const auto* known = get<ops::normalization>(before);
    const bool scale = get<ops::mul>(l);
    if (!known || known->bias || (scale && known->scale) || !is_only_reader(before)) return {};
    ops::normalization out = *known;
    if (scale) {
      out.scale = true;
      out.scale_shape = fixed;
    } else {
      out.bias = true;
      out.bias_shape = fixed;
    }
    return out;
  }
  /// The shape of the constant that layer `l`, a Mul or Add that keeps its operand's shape, combines with its operand.
  const shape* fixed(int l) const {
    const auto of = [&](const auto* op) { return op && op->which != ops::constant::none ? &op->fixed : nullptr; };
    const auto *scale = of(get<ops::mul>(l)), *bias = of(get<ops::add>(l));
    return at(l).operands.size() != 1 || at(l).result != at(operand(l)).result ? nullptr : scale ? scale : bias;
  }
  /// The extents of layer `l`'s result with the channels divided into groups, if its operand is a Reshape of a normalization
  /// of such groups, whose operand is a Reshape, too, and `l` has a constant for each channel.
  std::optional<shape> grouped(int l) const {
    const shape& s = at(l).result;
    const shape* constant = fixed(l);
    const int after = operand(l), middle = get<ops::reshape>(after) ? operand(after) : -1;
    if (!constant || s.rank < 3 || s.rank >= dice::tensor::max_rank || middle < 0 || !get<ops::normalization>(middle))
      return {};
    const int channels = constant->rank - s.rank + 1, before = operand(middle);
    if (channels < 0 || (*constant)[channels] != s[1] || constant->elements() != s[1]) return {};
    if (!is_only_reader(after) || !get<ops::reshape>(before) || !is_only_reader(before)) return {};
    const shape& groups = at(middle).result;
    const auto* how = get<ops::normalization>(middle);
    if (groups.rank < 3 || groups[0] != s[0] || s[1] % groups[1] != 0 || how->first != 2 || how->last != groups.rank)
      return {};
    shape out{s[0], groups[1], s[1] / groups[1]};
    for (int a = 2; a < s.rank; ++a) out.push_back(s[a]);
    // A scale for each group has another shape if the channels of a group are an axis.
    if (groups.rank == 3 ? how->scale : groups != out) return {};
    return out;
  }

  void count(const layer& l, int by) {
    for (const int k : l.operands) readers_[k] += by;
  }

 private:
  bool is_only_reader(int l) const { return readers_[l] == 1; }
  /// x and sqrt(…), if layer `l` is x / sqrt(…) or x · 1 / sqrt(…); else -1, -1.
  std::pair<int, int> fraction(int l) const {
    const auto is_root = [&](int k) { return is(kind::sqrt, k) && number<ops::add>(operand(k)); };
    const auto* div = get<ops::div>(l);
    const auto* mul = get<ops::mul>(l);
    if (div && div->which == ops::constant::none && is_root(operand(l, 1))) return {operand(l), operand(l, 1)};
    if (mul && mul->which == ops::constant::none)
      for (const std::size_t k : {0, 1}) {
        const int inverse = operand(l, k);
        const bool reciprocal = is(kind::reciprocal, inverse) || number<ops::div>(inverse, ops::constant::first) == 1.0;
        if (reciprocal && is_root(operand(inverse))) return {operand(l, 1 - k), operand(inverse)};
      }
    return {-1, -1};
  }
  /// If layer `l` is a mean, a normalization over its axes.
  std::optional<ops::normalization> mean(int l) const {
    const auto* r = get<ops::reduce>(l);
    if (!r || !r->keep || r->how != ops::reduction::mean) return {};
    const int rank = at(l).result.rank;
    const auto* first = std::find(r->over.begin(), r->over.begin() + rank, true);
    const auto* last = std::find(first, r->over.begin() + rank, false);
    if (first == last || std::find(last, r->over.begin() + rank, true) != r->over.begin() + rank) return {};
    return ops::normalization{.how = ops::normalizing::layer,
                              .first = static_cast<int>(first - r->over.begin()),
                              .last = static_cast<int>(last - r->over.begin())};
  }
  /// The mean that layer `l` subtracts, and the layer from which it subtracts it.
  std::optional<std::pair<ops::normalization, int>> centred(int l) const {
    const auto* sub = get<ops::sub>(l);
    if (!sub || sub->which != ops::constant::none) return {};
    const auto from = mean(operand(l, 1));
    if (!from || operand(operand(l, 1)) != operand(l)) return {};
    return {{*from, operand(l)}};
  }
  /// Whether layer `l` is the square of x, or of another layer that makes the same subtraction.
  bool is_square(int l, int x) const {
    const auto equal = [&](int a) {
      return a == x ||
             (get<ops::sub>(a) && get<ops::sub>(x) && at(a).operands.size() == 2 && at(a).operands == at(x).operands);
    };
    const auto* mul = get<ops::mul>(l);
    if (mul && mul->which == ops::constant::none) return operand(l) == operand(l, 1) && equal(operand(l));
    return number<ops::pow>(l, ops::constant::second) == 2.0 && equal(operand(l));
  }

  std::vector<int> readers_;
};

}  // namespace

void join_normalizations(network& net) {
  finder look(net);
  const auto at = [&](int l) -> layer& { return net.layers[l]; };
  const auto set = [&](int l, operation op, std::vector<int> operands, std::vector<parameter> parameters = {}) {
    look.count(at(l), -1);
    at(l).op = std::move(op);
    at(l).operands = std::move(operands);
    at(l).parameters = std::move(parameters);
    look.count(at(l), 1);
  };
  // The parameters of normalization `of`, and the one of layer `l`, its scale or bias.
  const auto joined = [&](int l, int of, const ops::normalization& op) {
    auto parameters = at(of).parameters;
    parameters.push_back(at(l).parameters[0]);
    parameters.back().role = op.bias ? "bias" : "scale";
    return parameters;
  };
  for (int l = 0; l < static_cast<int>(net.layers.size()); ++l) {
    if (auto found = look.quotient(l); found && at(found->second).result == at(l).result) {
      set(l, found->first, {found->second});
    } else if (const shape* fixed = look.fixed(l)) {
      const int before = at(l).operands[0];
      if (auto whole = look.affine(l, before, *fixed)) {
        set(l, *whole, at(before).operands, joined(l, before, *whole));
        set(before, at(before).op, {});  // nothing reads it any more
      } else if (auto groups = look.grouped(l)) {
        const int middle = at(before).operands[0], first = at(middle).operands[0];
        shape each{(*groups)[1], (*groups)[2]};
        while (each.rank < groups->rank - 1) each.push_back(1);
        auto op = look.affine(l, middle, each);
        if (!op) continue;
        op->how = ops::normalizing::group;
        op->onnx = ops::normalization{.how = op->how}.onnx;
        op->last = groups->rank;
        auto parameters = joined(l, middle, *op);
        parameters.back().extents = each;
        parameters.back().source.dims = {each.dim, each.dim + each.rank};
        set(first, ops::reshape{*groups}, at(first).operands);
        set(middle, *op, {first}, std::move(parameters));
        set(l, ops::reshape{at(l).result}, {middle});
        set(before, at(before).op, {});
        at(first).result = at(middle).result = *groups;
      }
    }
  }
}

}  // namespace onnx2hpp
