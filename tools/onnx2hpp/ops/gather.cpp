// Gather, GatherND and GatherElements of an activation by constant indices: a Slice for each of a few runs of evenly spaced
// ones, joined by a Concat; a Tile if each is repeated; a Reshape if the indices have not one axis. torchvision's pretrained
// Inception selects its colour channels this way. Other indices are parameters of a layer.
#include "fold/places.hpp"
#include "ops/layers.hpp"

#include "dice/graph/ops/gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace onnx2hpp {

using dice::ops::gather;

int gather_layer(node_context& n, int x, int axis, const std::vector<std::int64_t>& at) {
  const auto count = static_cast<std::int64_t>(at.size());
  return n.add(gather{.axis = axis, .count = count}, {x},
               {{"indices", make_constant(element::int64, {count}, std::span(at)), {count}}});
}

namespace {

using indices = std::vector<std::int64_t>;

/// The most Slices that one axis becomes: each is a layer, which costs users compile time.
constexpr std::size_t most_runs = 8;

/// Layer x with the axes `dims` in place of axes `first` … `last` - 1.
int replace_axes(node_context& n, int x, int first, int last, std::span<const std::int64_t> dims) {
  const shape in = n.shape_of(x);
  if (in.rank - (last - first) + static_cast<int>(dims.size()) > dice::tensor::max_rank)
    n.refuse("its output has more than 8 axes");
  shape to;
  for (int a = 0; a < first; ++a) to.push_back(in[a]);
  for (const auto d : dims) to.push_back(d);
  for (int a = last; a < in.rank; ++a) to.push_back(in[a]);
  return reshape_unless(n, x, to);
}

/// Each of the elements of an axis of layer x `times` times.
int repeat(node_context& n, int x, int axis, std::int64_t times) {
  const std::int64_t apart[] = {n.shape_of(x)[axis], 1}, joined = apart[0] * times;
  if (apart[0] == 1) {
    shape to = n.shape_of(x);
    to[axis] = times;
    return expand_layer(n, x, to);
  }
  x = replace_axes(n, x, axis, axis + 1, apart);
  shape to = n.shape_of(x);
  to[axis + 1] = times;
  return replace_axes(n, expand_layer(n, x, to), axis, axis + 2, {&joined, 1});
}

/// How often each index is repeated.
std::size_t repeats(const indices& at) {
  std::size_t out = at.size(), same = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    ++same;
    if (i + 1 < at.size() && at[i + 1] == at[i]) continue;
    out = std::gcd(out, std::exchange(same, 0));
  }
  return out;
}

/// Evenly spaced indices.
struct even_run {
  std::int64_t first, count, step;
};
std::vector<even_run> even_runs(const indices& at) {
  std::vector<even_run> out;
  for (std::size_t i = 0, end; i < at.size(); i = end) {
    const std::int64_t step = i + 1 < at.size() && at[i + 1] != at[i] ? at[i + 1] - at[i] : 1;
    for (end = i + 1; end < at.size() && at[end] - at[end - 1] == step;) ++end;
    out.push_back({at[i], static_cast<std::int64_t>(end - i), step});
  }
  return out;
}

/// The elements `at` of an axis of layer x: as a Slice for each run, or each element of a shorter list repeated, which
/// enlarges a picture.
int take(node_context& n, int x, int axis, const indices& at) {
  const shape in = n.shape_of(x);
  const auto times = in.rank < dice::tensor::max_rank ? repeats(at) : 1;
  indices once;
  for (std::size_t i = 0; i < at.size(); i += times) once.push_back(at[i]);
  const auto runs = even_runs(once);
  if (runs.size() > most_runs) return gather_layer(n, x, axis, at);
  std::vector<int> parts;
  for (const auto& r : runs)
    parts.push_back(n.fold() && r.step == 1 && r.count == in[axis] ? x : slice_layer(n, x, axis, r.first, r.count, r.step));
  const int y = parts.size() == 1 ? parts[0] : concat_layer(n, parts, axis);
  return times == 1 ? y : repeat(n, y, axis, static_cast<std::int64_t>(times));
}

void import_gather(node_context& n) {
  const int x = n.moved(0);
  const shape in = n.shape_of(x);
  const auto& dims = n.data(1, "indices").dims;
  const int axis = n.axis(n.integer("axis", 0), in.rank);
  auto at = n.integers(1, "indices");
  n.require(!at.empty(), "it has no index");
  for (auto& i : at) i = index_position(i, in[axis]);
  n.result(replace_axes(n, take(n, x, axis, at), axis, axis + 1, dims));
}

/// The numbers of `at`, row-major over `dims`, if they depend only on the axes [first, last) of `dims`.
std::optional<indices> along(const indices& at, const std::vector<std::int64_t>& dims, std::size_t first, std::size_t last) {
  std::size_t size = 1, inner = 1;
  for (std::size_t a = first; a < last; ++a) size *= static_cast<std::size_t>(dims[a]);
  for (std::size_t a = last; a < dims.size(); ++a) inner *= static_cast<std::size_t>(dims[a]);
  indices out(size);
  for (std::size_t k = 0; k < size; ++k) out[k] = at[k * inner];
  for (std::size_t i = 0; i < at.size(); ++i)
    if (at[i] != out[i / inner % size]) return {};
  return out;
}

/// `at[k]` for the axes of a grid `dims`, if each depends on axes of its own that follow each other: x[rows[:, None],
/// columns] takes first the rows, then the columns.
std::optional<std::vector<indices>> separate(const std::vector<indices>& at, const std::vector<std::int64_t>& dims) {
  std::vector<indices> out;
  std::size_t first = 0;
  for (std::size_t k = 0; k < at.size(); ++k) {
    std::optional<indices> found;
    auto last = k + 1 == at.size() ? dims.size() : first;  // the last one has what is left
    for (; last <= dims.size() && !(found = along(at[k], dims, first, last)); ++last) {
    }
    if (!found) return {};
    out.push_back(*found);
    first = last;
  }
  return out;
}

/// Indices (…, k) name the first k axes.
void import_gather_nd(node_context& n) {
  int x = n.moved(0);
  const shape in = n.shape_of(x);
  auto dims = n.data(1, "indices").dims;
  n.require(n.integer("batch_dims", 0) == 0, "its batch_dims is not 0");
  n.require(!dims.empty() && dims.back() >= 1 && dims.back() <= in.rank,
            "its indices have no numbers, or more than its input has axes");
  const auto all = n.integers(1, "indices");
  n.require(!all.empty(), "it has no index");
  const auto axes = static_cast<std::size_t>(dims.back());
  dims.pop_back();
  std::vector<indices> at(axes);
  indices flat(all.size() / axes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto extent = in[static_cast<int>(i % axes)], to = index_position(all[i], extent);
    at[i % axes].push_back(to);
    flat[i / axes] = flat[i / axes] * extent + to;
  }
  auto last = static_cast<int>(axes);
  if (const auto each = separate(at, dims)) {
    for (std::size_t k = 0; k < axes; ++k) x = take(n, x, static_cast<int>(k), (*each)[k]);
  } else {
    const std::int64_t whole = in.product(0, last);
    x = take(n, replace_axes(n, x, 0, std::exchange(last, 1), {&whole, 1}), 0, flat);
  }
  n.result(replace_axes(n, x, 0, last, dims));
}

/// Takes elements along the axis if their order there is the same everywhere; else one by one.
void import_gather_elements(node_context& n) {
  const int x = n.moved(0);
  const shape in = n.shape_of(x);
  const std::vector<std::int64_t> dims{in.dim, in.dim + in.rank};
  const auto from = elements_by_index(n, dims);
  n.require(!from.at.empty(), "it has no index");
  const int axis = n.axis(n.integer("axis", 0), in.rank);
  const auto inner = in.product(axis + 1, in.rank);
  auto others = from.dims;
  others[axis] = in[axis];
  if (others == dims) {
    indices at(from.at.size());
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = from.at[i] / inner % in[axis];
    if (const auto one = along(at, from.dims, static_cast<std::size_t>(axis), static_cast<std::size_t>(axis) + 1))
      return n.result(take(n, x, axis, *one));
  }
  const std::int64_t whole = in.elements();
  n.result(replace_axes(n, take(n, replace_axes(n, x, 0, in.rank, {&whole, 1}), 0, from.at), 0, 1, from.dims));
}

const importer known_gather[] = {
    {"Gather", import_gather, 1, "axis",
     "indices constant; up to 8 runs of evenly spaced ones become Slices, Concat, Tile and Reshape, others one layer"},
    {"GatherElements", import_gather_elements, 11, "axis",
     "indices constant; becomes Gather, Slices, Concat, Tile and Reshape"},
    {"GatherND", import_gather_nd, 11, "batch_dims>=12",
     "indices constant; only batch_dims = 0; becomes Gather, Slices, Concat, Tile and Reshape"}};

}  // namespace
}  // namespace onnx2hpp
