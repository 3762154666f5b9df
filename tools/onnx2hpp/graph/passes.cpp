#include "graph/passes.hpp"

#include "dice/graph/ops/batch_normalization.hpp"
#include "dice/graph/ops/binary.hpp"
#include "dice/graph/ops/conv.hpp"
#include "dice/graph/ops/flatten.hpp"
#include "dice/graph/ops/mat_mul.hpp"
#include "dice/graph/ops/reshape.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

namespace onnx2hpp {

namespace {

namespace ops = dice::ops;

/// y = scale · x + shift, for each channel.
struct affine {
  std::vector<double> scale, shift;
};

/// The constant of a binary operator as a number for each element of axis `axis` of its result.
std::optional<std::vector<double>> along(const layer& l, int axis) {
  const auto& p = l.parameters[0];
  const int before = axis - (l.result.rank - p.extents.rank);
  const auto channels = static_cast<std::size_t>(l.result[axis]);
  const auto elements = p.extents.elements();
  if (elements != 1 && (before < 0 || p.extents[before] != elements || elements != l.result[axis])) return {};
  auto values = reals(p.source);
  if (elements == 1) values.resize(channels, values[0]);
  return values;
}

template <class Op> bool has_constant(const operation& op) {
  const auto* binary = op.get_if<Op>();
  return binary && binary->which != ops::constant::none;
}
bool is_affine(const operation& op) {
  return op.get_if<ops::batch_normalization>() || has_constant<ops::add>(op) || has_constant<ops::sub>(op) ||
         has_constant<ops::mul>(op) || has_constant<ops::div>(op);
}
bool only_reshapes(const layer& l) { return l.op.get_if<ops::reshape>() || l.op.get_if<ops::flatten>(); }

/// The scale and shift that layer `l` applies to its input, whose channels lie along `axis`; none if it does something else.
std::optional<affine> affine_of(const layer& l, const shape& in, int axis) {
  if (l.op.get_if<ops::batch_normalization>()) {
    if (axis != 1) return {};
    return affine{reals(l.parameters[0].source), reals(l.parameters[1].source)};
  }
  if (!is_affine(l.op) || l.result != in) return {};
  const auto constant = along(l, axis);
  if (!constant) return {};
  const auto channels = static_cast<std::size_t>(in[axis]);
  affine out{std::vector<double>(channels, 1), std::vector<double>(channels)};
  if (l.op.get_if<ops::mul>()) {
    out.scale = *constant;
  } else if (l.op.get_if<ops::add>()) {
    out.shift = *constant;
  } else if (const auto* div = l.op.get_if<ops::div>()) {
    if (div->which == ops::constant::first) return {};
    for (std::size_t k = 0; k < channels; ++k) out.scale[k] = 1 / (*constant)[k];
  } else {
    const double sign = l.op.get_if<ops::sub>()->which == ops::constant::first ? -1 : 1;  // c - x, or x - c
    for (std::size_t k = 0; k < channels; ++k) {
      out.scale[k] = sign;
      out.shift[k] = -sign * (*constant)[k];
    }
  }
  const auto finite = [](double v) { return std::isfinite(v); };
  if (!std::ranges::all_of(out.scale, finite) || !std::ranges::all_of(out.shift, finite)) return {};
  return out;
}

/// (W x + b) · scale + shift = (scale · W) x + (b · scale + shift), for each output channel, in double.
template <class Op> void join(layer& product, Op& op, affine a) {
  const auto outputs = static_cast<std::int64_t>(a.scale.size());
  if (op.bias) {
    const auto& bias = product.parameters[1];
    const auto before = reals(bias.source);
    for (std::size_t c = 0; c < before.size(); ++c) a.shift[c] += before[c] * a.scale[c];
    product.parameters.pop_back();
  }
  op.bias = true;
  auto& rows = product.parameters[0].rows;
  if (std::ranges::any_of(a.scale, [](double v) { return v != 1; })) {
    rows.resize(a.scale.size(), 1);
    for (std::size_t c = 0; c < rows.size(); ++c) rows[c] *= a.scale[c];
  }
  product.parameters.push_back(
      {"bias", make_constant(element::float64, {outputs}, std::span<const double>(a.shift)), {outputs}});
}

class scale_folder {
 public:
  explicit scale_folder(network& net)
      : net_(net), readers_(net.layers.size()), stands_for_(readers_), computed_(net.layers.size()) {
    for (const auto& l : net.layers)
      for (const int k : l.operands) ++readers_[index(k)];
    std::iota(stands_for_.begin(), stands_for_.end(), 0);
    std::iota(computed_.begin(), computed_.end(), 0);
  }

  void run() {
    for (std::size_t i = 0; i < net_.layers.size(); ++i) {
      for (int& k : net_.layers[i].operands) k = stands_for_[index(k)];
      if (is_affine(net_.layers[i].op)) try_folding(static_cast<int>(i));
    }
    for (auto& [name, at] : net_.tensors)
      if (at >= 0) {
        const int now = stands_for_[index(at)];
        at = computed_[index(now)] == at ? now : -1;
      }
  }

 private:
  static std::size_t index(int k) { return static_cast<std::size_t>(k); }
  layer& at(int k) { return net_.layers[index(k)]; }

  void try_folding(int i) {
    const int before = at(i).operands[0];
    int source = before;  // through layers that only change the shape: one, or a few
    for (int k = 0; k < 4 && only_reshapes(at(source)) && readers_[index(source)] == 1; ++k) source = at(source).operands[0];
    auto* conv = at(source).op.get_if<ops::conv>();
    auto* matrix = at(source).op.get_if<ops::mat_mul>();
    if ((!conv && !matrix) || readers_[index(source)] != 1) return join_with_scale(at(i));
    const int axis =
        conv ? channel_axis(at(source).result, at(before).result) : last_axis(at(source).result, at(before).result);
    if (axis < 0) return;
    auto a = affine_of(at(i), at(before).result, axis);
    if (!a) return;
    conv ? join(at(source), *conv, std::move(*a)) : join(at(source), *matrix, std::move(*a));
    stands_for_[index(i)] = before;
    readers_[index(before)] = readers_[index(i)];
    for (int k = before; k != source; k = at(k).operands[0]) computed_[index(k)] = i;
    computed_[index(source)] = i;
  }

  /// Makes one layer of a Mul and an Add with a number for each channel: a BatchNormalization in other words.
  void join_with_scale(layer& l) {
    const layer& before = at(l.operands[0]);
    if (l.result.rank < 3 || readers_[index(l.operands[0])] != 1 || before.operands.size() != 1 ||
        !of_channels(before, l.result[1]) || !of_channels(l, l.result[1]))
      return;
    const auto first = affine_of(before, at(before.operands[0]).result, 1);
    auto second = affine_of(l, before.result, 1);
    if (!first || !second) return;
    for (std::size_t c = 0; c < first->scale.size(); ++c) {
      second->shift[c] += first->shift[c] * second->scale[c];
      second->scale[c] *= first->scale[c];
    }
    const shape channels{l.result[1]};
    const auto source = [&](const std::vector<double>& v) {
      return make_constant(element::float64, {channels[0]}, std::span<const double>(v));
    };
    l.op = dice::ops::batch_normalization{};
    l.operands = before.operands;
    l.parameters = {{"scale", source(second->scale), channels}, {"bias", source(second->shift), channels}};
  }
  static bool of_channels(const layer& l, std::int64_t channels) {
    return is_affine(l.op) && l.parameters[0].extents.elements() == channels;
  }

  /// The axis of `s`, to which a convolution's result `from` is reshaped, that has its channels; -1: none.
  static int channel_axis(const shape& from, const shape& s) {
    if (s == from) return 1;
    for (int a = 0; a < s.rank; ++a)
      if (s.product(0, a) == from[0] && s[a] == from[1]) return a;
    return -1;
  }

  /// The same for a MatMul's columns.
  static int last_axis(const shape& from, const shape& s) {
    return s.rank > 0 && s[s.rank - 1] == from[from.rank - 1] ? s.rank - 1 : -1;
  }

  network& net_;
  std::vector<int> readers_, stands_for_, computed_;  ///< computed_: the layer whose result each one computes
};

}  // namespace

void fold_scales(network& net) { scale_folder(net).run(); }

int drop_unused(network& net) {
  const auto size = net.layers.size();
  std::vector<bool> used(size);
  for (std::size_t i = size; i-- > 0;) {
    if (is_input(net.layers[i]) || is_output(net.layers[i])) used[i] = true;
    if (used[i])
      for (int k : net.layers[i].operands) used[k] = true;
  }
  std::vector<int> new_index(size, -1);
  std::vector<layer> kept;
  for (std::size_t i = 0; i < size; ++i) {
    if (!used[i]) continue;
    new_index[i] = static_cast<int>(kept.size());
    for (int& k : net.layers[i].operands) k = new_index[k];
    kept.push_back(std::move(net.layers[i]));
  }
  net.layers = std::move(kept);
  for (auto& [name, index] : net.tensors)
    if (index >= 0) index = new_index[index];
  return static_cast<int>(size - net.layers.size());
}

}  // namespace onnx2hpp
