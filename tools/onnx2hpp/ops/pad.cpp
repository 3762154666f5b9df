#include "ops/layers.hpp"

#include "dice/graph/ops/pad.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace onnx2hpp {

using dice::ops::pad;
using dice::ops::padding;

namespace {

std::string literal_of(padding mode) {
  return mode == padding::constant  ? "::dice::ops::padding::constant"
         : mode == padding::reflect ? "::dice::ops::padding::reflect"
                                    : "::dice::ops::padding::edge";
}

}  // namespace

template <> struct spelling<pad> {
  static constexpr const char* name = "pad";
  static void write(const pad& op, const pad& unset, initialiser& out) {
    out("before", op.before, unset.before);
    out("after", op.after, unset.after);
    if (op.mode != unset.mode) out.add("mode", literal_of(op.mode));
    out("value", op.value, unset.value);
  }
};

int pad_layer(node_context& n, int x, int axis, std::int64_t before, std::int64_t after) {
  pad op;
  op.before[static_cast<std::size_t>(axis)] = before, op.after[static_cast<std::size_t>(axis)] = after;
  return n.add(op, {x});
}

namespace {

void import_pad(node_context& n) {
  const int x = n.activation(0), rank = n.shape_of(x).rank;
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
  else if (mode != "constant")
    n.refuse(fmt::format("its mode is {}; only constant, reflect and edge are supported", quote(mode)));
  if (op.mode != padding::constant) {
    op.value = 0;
    for (int a = 0; a < rank; ++a)
      n.require(op.before[static_cast<std::size_t>(a)] >= 0 && op.after[static_cast<std::size_t>(a)] >= 0,
                "it removes elements in a mode other than constant");
  }
  // PyTorch, for example, writes a Pad by 0 before each AveragePool of DenseNet.
  if (op.before == pad{}.before && op.after == pad{}.after) n.pass();
  else n.result(n.add(op, {x}));
}

const importer known_pad("Pad", import_pad, 1, "mode pads<11 value<11",
                         "pads, value and axes constant; mode constant, reflect or edge");

}  // namespace
}  // namespace onnx2hpp
