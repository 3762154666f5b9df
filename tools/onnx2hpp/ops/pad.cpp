#include "ops/layers.hpp"

#include "dice/graph/ops/pad.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace onnx2hpp {

using dice::ops::pad;
using dice::ops::padding;

int pad_layer(node_context& n, int x, int axis, std::int64_t before, std::int64_t after) {
  pad op;
  op.before[axis] = before;
  op.after[axis] = after;
  return n.add(op, {x});
}
int pad_layer(node_context& n, int x, const pad_amounts& before, const pad_amounts& after, float value) {
  return n.add(pad{.before = before, .after = after, .value = value}, {x});
}

namespace {

/// Layer x without what negative amounts remove, which no mode but constant can tell from its padding; they become 0.
int without_removed(node_context& n, int x, pad& op) {
  const shape in = n.shape_of(x);
  for (int a = 0; a < in.rank; ++a) {
    auto &before = op.before[a], &after = op.after[a];
    const auto first = std::max<std::int64_t>(0, -before), last = std::max<std::int64_t>(0, -after);
    if (first == 0 && last == 0) continue;
    n.require(first + last < in[a], "nothing is left of an axis");
    x = slice_layer(n, x, a, first, in[a] - first - last);
    before = std::max<std::int64_t>(0, before);
    after = std::max<std::int64_t>(0, after);
  }
  return x;
}

void import_pad(node_context& n) {
  int x = n.moved(0);
  const int rank = n.shape_of(x).rank;
  pad op;
  std::vector<std::int64_t> pads, axes;
  if (n.opset() < 11) {
    pads = n.integers("pads");
    op.value = n.real("value", 0.0f);
  } else {
    pads = n.integers(1, "pads");
    if (n.given(2)) op.value = static_cast<float>(n.real(2, "value"));
  }
  if (n.opset() >= 18 && n.given(3)) axes = n.integers(3, "axes");
  else
    for (int a = 0; a < rank; ++a) axes.push_back(a);
  if (pads.size() != 2 * axes.size()) n.refuse(fmt::format("it has {} pads for {} axes", pads.size(), axes.size()));
  std::array<bool, dice::tensor::max_rank> named{};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto a = static_cast<std::size_t>(n.axis(axes[i], rank));
    n.require(!std::exchange(named[a], true), "it names an axis twice");
    op.before[a] = n.small(pads[i], "padding");
    op.after[a] = n.small(pads[i + axes.size()], "padding");
  }
  const auto mode = n.text("mode", "constant");
  if (mode == "reflect") op.mode = padding::reflect;
  else if (mode == "edge") op.mode = padding::edge;
  else if (mode == "wrap" && n.opset() >= 19) op.mode = padding::wrap;
  else if (mode != "constant")
    n.refuse(
        fmt::format("its mode is {}; only constant, reflect, edge and, from opset 19 on, wrap are supported", quote(mode)));
  // PyTorch, for example, writes a Pad by 0 before each AveragePool of DenseNet.
  if (op.before == pad{}.before && op.after == pad{}.after) return n.pass();
  if (op.mode != padding::constant) {
    op.value = 0;
    x = without_removed(n, x, op);
  } else if (numbers holds = n.holds(); holds.type != element::float32) {
    holds.least = std::min<double>(holds.least, op.value);
    holds.most = std::max<double>(holds.most, op.value);
    n.holds(holds);
  }
  n.result(op.before == pad{}.before && op.after == pad{}.after ? x : n.add(op, {x}));
}

const importer known_pad("Pad", import_pad, 1, "mode pads<11 value<11",
                         "pads, value and axes constant; where it removes elements, also becomes Slice");

}  // namespace
}  // namespace onnx2hpp
