// Reshape, Squeeze and Unsqueeze: the same elements with another shape.
#include "ops/reshape.hpp"

#include "ops/layers.hpp"

#include "dice/graph/ops/reshape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace onnx2hpp {

int reshape_layer(node_context& n, int x, const shape& to) { return n.add(dice::ops::reshape{.to = to}, {x}); }
int reshape_unless(node_context& n, int x, const shape& to) { return n.shape_of(x) == to ? x : reshape_layer(n, x, to); }

std::vector<std::int64_t> reshaped(node_context& n, const std::vector<std::int64_t>& in) {
  auto out = n.integers(1, "new shape");
  const bool zero = n.integer("allowzero", 0) != 0;
  std::int64_t known = 1;
  int open = -1;
  for (std::size_t a = 0; a < out.size(); ++a) {
    if (out[a] == 0 && !zero) {
      n.require(a < in.size(), "its new shape keeps an axis that the input lacks");
      out[a] = in[a];
    }
    if (out[a] == -1) {
      n.require(open < 0, "its new shape leaves two extents open");
      open = static_cast<int>(a);
    } else if (out[a] < 0) {
      n.refuse(fmt::format("its new shape has the extent {}", out[a]));
    }
  }
  const auto all = element_count(in);
  const auto refuse = [&](const std::string& differs) {
    n.refuse(fmt::format("its new shape {{{}}} {} of its input {{{}}}", fmt::join(out, ", "), differs, fmt::join(in, ", ")));
  };
  std::vector<std::int64_t> closed = out;
  if (open >= 0) closed.erase(closed.begin() + open);
  known = element_count(closed);
  if (open >= 0) {
    if (known < 1 || all % known != 0) refuse(fmt::format("cannot be completed for the {} elements", all));
    out[open] = all / known;
  } else if (known != all) {
    refuse(fmt::format("has {} elements, not the {}", known < 0 ? "too many" : std::to_string(known), all));
  }
  return out;
}

namespace {

/// The axes that Squeeze and Unsqueeze name: an attribute before opset 13, an input from then on.
std::vector<std::int64_t> named_axes(node_context& n) {
  return n.opset() < 13 ? n.integers("axes") : n.given(1) ? n.integers(1, "axes") : std::vector<std::int64_t>{};
}

}  // namespace

std::vector<std::int64_t> squeezed(node_context& n, const std::vector<std::int64_t>& in) {
  const auto axes = named_axes(n);
  const auto rank = static_cast<int>(in.size());
  std::vector<bool> gone(in.size());
  for (auto a : axes) {
    const auto i = static_cast<std::size_t>(n.axis(a, rank));
    if (in[i] != 1) n.refuse(fmt::format("its axis {} has the extent {}, not 1", a, in[i]));
    gone[i] = true;
  }
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (!(axes.empty() ? in[i] == 1 : gone[i])) out.push_back(in[i]);
  return out;
}

std::vector<std::int64_t> unsqueezed(node_context& n, const std::vector<std::int64_t>& in) {
  const auto axes = named_axes(n);
  n.require(axes.size() <= 64, "it names too many axes");
  const auto rank = static_cast<int>(in.size() + axes.size());
  std::vector<bool> made(static_cast<std::size_t>(rank));
  for (auto a : axes) {
    const auto i = static_cast<std::size_t>(n.axis(a, rank));
    n.require(!made[i], "it names an axis twice");
    made[i] = true;
  }
  std::vector<std::int64_t> out;
  for (std::size_t i = 0, from = 0; i < made.size(); ++i) out.push_back(made[i] ? 1 : in[from++]);
  return out;
}

namespace {

template <auto Rule> void import_reshape(node_context& n) {
  const int x = n.moved(0);
  const shape in = n.shape_of(x);
  const auto dims = Rule(n, {in.dim, in.dim + in.rank});
  if (dims.size() > dice::tensor::max_rank) n.refuse("its output has more than 8 axes");
  shape to;
  for (auto d : dims) to.push_back(d);
  n.result(reshape_layer(n, x, to));
}

template <auto Rule> void fold_reshape(node_context& n) {
  constant c = n.data(0, "input");
  c.dims = Rule(n, c.dims);
  n.result(std::move(c));
}

const importer known_reshape("Reshape", import_reshape<reshaped>, 1, "allowzero>=14", "shape constant"),
    known_squeeze("Squeeze", import_reshape<squeezed>, 1, "axes<13", "axes constant; becomes Reshape"),
    known_unsqueeze("Unsqueeze", import_reshape<unsqueezed>, 1, "axes<13", "axes constant; becomes Reshape");
const folder folds_reshape("Reshape", fold_reshape<reshaped>), folds_squeeze("Squeeze", fold_reshape<squeezed>),
    folds_unsqueeze("Unsqueeze", fold_reshape<unsqueezed>);

}  // namespace
}  // namespace onnx2hpp
