// Transposes that cancel each other, such as those that exporters of networks with channels last (TensorFlow, Keras) write
// around each convolution. Every value of the model is kept in some layer with its axes in some order. A Transpose only
// changes the order. Most operators can work on any order; where one needs its own, the elements are moved.
#include "graph/passes.hpp"
#include "graph/permuted.hpp"

#include "dice/graph/ops/flatten.hpp"
#include "dice/graph/ops/reshape.hpp"
#include "dice/graph/ops/transpose.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace onnx2hpp {

namespace {

namespace ops = dice::ops;

/// Where a value lies: its axis a is axis axes[a] of layer `at`. `by` is the model's layer that computes it.
struct place {
  int at = -1;
  order axes;
  const layer* by = nullptr;
};

/// Constants that are permuted take no more memory than this.
constexpr std::size_t most_bytes = std::size_t{1} << 30;

class rewriter {
 public:
  /// `keep`: if the operands of an operator have different orders, and moving any of them costs the same, they get the order
  /// of the model.
  rewriter(const network& from, bool keep) : from_(from), keep_(keep) {}

  /// The layers, and where the model's values are.
  network run() {
    for (const auto& l : from_.layers) {
      if (is_output(l) && !outputs_) for_outputs();
      places_.push_back(convert(l));
      places_.back().by = &l;
    }
    for (const auto& [name, index] : from_.tensors) to_.tensors[name] = index < 0 ? -1 : known_at(index);
    return std::move(to_);
  }

 private:
  const layer& at(int l) const { return to_.layers[l]; }
  const place& place_of(int old) const { return places_[old]; }
  const shape& shape_of(int old) const { return from_.layers[old].result; }

  /// The layer that has old layer `old`'s result in the model's order; -1: none.
  int known_at(int old) const {
    const place& p = place_of(old);
    if (p.axes.in_order()) return p.at;
    const auto moved = moved_.find({p.at, p.axes});
    return moved == moved_.end() ? -1 : moved->second;
  }

  /// The layers that outputs need come before all outputs.
  void for_outputs() {
    outputs_ = true;
    for (const auto& l : from_.layers)
      if (is_output(l)) bring(place_of(l.operands[0]), order(l.result.rank));
  }

  /// A layer that does a part of the work of `by`, a layer of the model.
  int add(const layer& by, operation op, std::vector<int> operands, std::vector<parameter> parameters = {}) {
    layer l{std::move(op), std::move(operands), std::move(parameters), by.onnx_name, {}};
    l.output = by.output;
    l.result = l.op.infer(to_.operand_shapes(l));
    to_.layers.push_back(std::move(l));
    return static_cast<int>(to_.layers.size()) - 1;
  }
  /// A Reshape of a Reshape becomes one.
  int reshape(const layer& by, int x, const shape& s) {
    while (at(x).op.get_if<ops::reshape>() || at(x).op.get_if<ops::flatten>()) x = at(x).operands[0];
    return at(x).result == s ? x : add(by, dice::ops::reshape{.to = s}, {x});
  }

  /// A layer with value `p` in the order `wanted`.
  int bring(const place& p, const order& wanted) {
    const order axes = wanted.inverse().then(p.axes);
    if (axes.in_order()) return p.at;
    if (const auto known = moved_.find({p.at, axes}); known != moved_.end()) return known->second;
    const shape& held = at(p.at).result;
    const int out =
        axes.moves(held) ? add(*p.by, dice::ops::transpose{.perm = axes.axis}, {p.at}) : reshape(*p.by, p.at, axes.of(held));
    moved_.emplace(std::pair(p.at, axes), out);
    return out;
  }
  std::int64_t cost(const place& p, const order& wanted) const {
    const shape& s = at(p.at).result;
    const order axes = wanted.inverse().then(p.axes);
    return axes.moves(s) ? 2 * s.elements() : axes.in_order() ? 0 : 1;
  }
  /// The operand with axes of extent 1 before its own, so that it has `rank`.
  place widened(const place& p, int rank) {
    const int own = p.axes.rank;
    if (own == rank) return p;
    shape s;
    for (int a = own; a < rank; ++a) s.push_back(1);
    for (int a = 0; a < own; ++a) s.push_back(at(p.at).result[a]);
    order axes(rank);
    for (int a = 0; a < own; ++a) axes[a + rank - own] = p.axes[a] + rank - own;
    return {reshape(*p.by, p.at, s), axes, p.by};
  }

  place convert(const layer& l) {
    if (l.operands.empty()) return unchanged(l);
    const place& first = place_of(l.operands[0]);
    if (const auto* t = l.op.get_if<ops::transpose>()) return {first.at, order(*t, l.result.rank).then(first.axes)};
    if (l.op.get_if<ops::reshape>() || l.op.get_if<ops::flatten>()) return reshaped(l, first);
    const bool moved = std::ranges::any_of(l.operands, [&](int k) { return !place_of(k).axes.in_order(); });
    if (!moved) return unchanged(l);
    for (const auto& p : l.parameters) bytes_ += p.source.bytes.size();
    if (bytes_ > most_bytes) return unchanged(l);
    if (joins(l.op)) return joined(l);
    if (l.operands.size() == 1)
      if (auto made = permuted(l, first.axes, at(first.at).result)) return adopt(l, std::move(*made), {first.at});
    return unchanged(l);
  }

  place unchanged(const layer& l) {
    std::vector<int> operands;
    for (const int k : l.operands) operands.push_back(bring(place_of(k), order(shape_of(k).rank)));
    layer copy = l;
    copy.operands = std::move(operands);
    to_.layers.push_back(std::move(copy));
    return {static_cast<int>(to_.layers.size()) - 1, order(l.result.rank)};
  }

  place adopt(const layer& l, permuted_layer made, std::vector<int> operands) {
    return {add(l, std::move(made.op), std::move(operands), std::move(made.parameters)), made.result};
  }

  /// An operator of several operands, or of one and a constant: all in the order that moves the fewest elements.
  place joined(const layer& l) {
    std::vector<place> operands;
    for (const int k : l.operands) operands.push_back(place_of(k));
    std::vector<order> candidates;
    for (const auto& p : operands)
      if (p.axes.rank == l.result.rank && candidates.size() < most_candidates && !std::ranges::count(candidates, p.axes))
        candidates.push_back(p.axes);
    candidates.insert(keep_ ? candidates.begin() : candidates.end(), order(l.result.rank));
    const auto total = [&](const order& wanted) {
      std::int64_t sum = 0;
      for (const auto& p : operands) {
        if (p.axes.rank == l.result.rank) sum += cost(p, wanted);
        else if (!p.axes.in_order() || !wanted.in_order()) sum += at(p.at).result.elements();
      }
      return sum;
    };
    const order best = *std::ranges::min_element(candidates, {}, total);
    auto made = permuted(l, best, best.stored(l.result));
    if (!made) return unchanged(l);
    std::vector<int> layers;
    for (const auto& p : operands)
      layers.push_back(best.in_order() ? bring(p, order(p.axes.rank)) : bring(widened(p, l.result.rank), best));
    return adopt(l, std::move(*made), std::move(layers));
  }

  /// Reshape and Flatten: groups of axes that stay together may stay where they are.
  place reshaped(const layer& l, const place& p) {
    const shape from = shape_of(l.operands[0]);
    auto made = p.axes.in_order() ? std::nullopt : regroup(from, l.result, p.axes);
    if (made) return {reshape(l, p.at, made->stored(l.result)), *made};
    const int x = bring(p, order(from.rank));
    const bool again = at(x).result == l.result || at(x).op.get_if<ops::reshape>() || at(x).op.get_if<ops::flatten>();
    return {again ? reshape(l, x, l.result) : add(l, l.op, {x}), order(l.result.rank)};
  }

  static constexpr std::size_t most_candidates = 8;
  const network& from_;
  bool keep_, outputs_ = false;
  std::size_t bytes_ = 0;      ///< of constants that may have been permuted
  std::vector<place> places_;  ///< of the results of from_'s layers
  std::map<std::pair<int, order>, int> moved_;
  network to_;
};

/// The number of elements that the network's Transposes move.
std::int64_t moved_elements(const network& net) {
  std::int64_t sum = 0;
  for (const auto& l : net.layers)
    if (const auto* t = l.op.get_if<ops::transpose>(); t && t->view(net.operand_shapes(l), l.result) < 0)
      sum += l.result.elements();
  return sum;
}

}  // namespace

void cancel_transposes(network& net) {
  if (std::ranges::none_of(net.layers, [](const layer& l) { return l.op.get_if<ops::transpose>(); })) return;
  for (const bool keep : {true, false}) {
    network made = rewriter(net, keep).run();
    drop_unused(made);
    if (moved_elements(made) >= moved_elements(net)) continue;
    net.layers = std::move(made.layers);
    net.tensors = std::move(made.tensors);
  }
}

}  // namespace onnx2hpp
