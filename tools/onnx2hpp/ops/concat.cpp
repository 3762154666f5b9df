#include "fold/broadcast.hpp"
#include "ops/layers.hpp"

#include "dice/graph/ops/concat.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onnx2hpp {

using dice::ops::concat;

int concat_layer(node_context& n, const std::vector<int>& layers, int axis) { return n.add(concat{.axis = axis}, layers); }

namespace {

/// Constants are added to zeros beside the layers: before all of them, behind all, or between.
void import_concat(node_context& n) {
  n.require(n.has("axis"), "it has no axis");
  int first = 0;
  while (first < n.inputs() && n.is_constant(first)) ++first;
  n.require(first < n.inputs(), "it has no input");
  const shape form = n.shape_of(n.moved(first));
  const int axis = n.axis(n.integer("axis", 1), form.rank);
  std::vector<int> layers;
  std::vector<std::int64_t> before{0};  // elements of constants before each layer, and behind the last one
  std::vector<double> fixed;            // all constants, in the order of the result, with zeros for the layers
  std::vector<std::int64_t> starts;     // of each input in the result
  std::int64_t extent = 0;
  for (int k = 0; k < n.inputs(); ++k) {
    const shape s = n.is_constant(k) ? shape_of(n.data(k, "operand")) : n.shape_of(n.moved(k));
    bool fits = s.rank == form.rank;
    for (int a = 0; fits && a < form.rank; ++a) fits = a == axis || s[a] == form[a];
    if (!fits)
      n.refuse(
          fmt::format("its inputs {} and {} differ in rank, or on another axis than {}", n.shown(first), n.shown(k), axis));
    starts.push_back(extent);
    extent += s[axis];
    if (n.is_constant(k)) before.back() += s[axis];
    else {
      layers.push_back(n.moved(k));
      before.push_back(0);
    }
  }
  if (static_cast<int>(layers.size()) == n.inputs()) return n.result(concat_layer(n, layers, axis));
  n.require(n.holds().type == element::float32, "it joins integers and constants");

  for (std::size_t k = 0; k < layers.size(); ++k) {
    const auto behind = k + 1 == layers.size() ? before.back() : 0;
    if (before[k] + behind > 0) layers[k] = pad_layer(n, layers[k], axis, before[k], behind);
  }
  const int joined = layers.size() == 1 ? layers[0] : concat_layer(n, layers, axis);
  shape all = form;
  all[axis] = extent;
  const auto inner = all.product(axis + 1, all.rank), outer = all.product(0, axis);
  std::vector<std::int64_t> dims(all.dim, all.dim + all.rank);
  fixed.resize(folded_size(dims, "it joins constants and activations to a tensor"));
  for (int k = 0; k < n.inputs(); ++k) {
    if (!n.is_constant(k)) continue;
    const auto& c = n.data(k, "operand");
    const auto values = reals(c);
    const auto row = c.dims[axis] * inner;
    for (std::int64_t o = 0; o < outer; ++o)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(o * row), row,
                  fixed.begin() + static_cast<std::ptrdiff_t>((o * extent + starts[k]) * inner));
  }
  n.result(add_bias(n, joined, make_constant(element::float32, dims, std::span<const double>(fixed))));
}

const importer known_concat("Concat", import_concat, 1, "axis", "constants beside activations become Pad and Add");

}  // namespace
}  // namespace onnx2hpp
