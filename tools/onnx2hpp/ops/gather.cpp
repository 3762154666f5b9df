// Gather and GatherND of an activation by constant indices: a Slice for each run of evenly spaced ones, joined by a Concat;
// a Tile if each is repeated; a Reshape if the indices have not one axis. torchvision's pretrained Inception selects its
// colour channels this way.
#include "ops/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace onnx2hpp {

namespace {

using indices = std::vector<std::int64_t>;

/// The most Slices that one axis becomes.
constexpr std::size_t most_runs = 64;

/// Layer x with the axes `dims` in place of axes `first` … `last` - 1.
int replace_axes(node_context& n, int x, int first, int last, std::span<const std::int64_t> dims) {
  const shape in = n.shape_of(x);
  if (in.rank - (last - first) + static_cast<int>(dims.size()) > dice::tensor::max_rank)
    n.refuse("its output has more than 8 axes");
  shape to;
  for (int a = 0; a < first; ++a) to.push_back(in[a]);
  for (const auto d : dims) to.push_back(d);
  for (int a = last; a < in.rank; ++a) to.push_back(in[a]);
  return to == in ? x : reshape_layer(n, x, to);
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

/// Where index `i` points on an axis of `extent`.
std::int64_t position(std::int64_t i, std::int64_t extent) {
  if (i < -extent || i >= extent) node_context::refuse(fmt::format("its index {} is out of range", i));
  return i < 0 ? i + extent : i;
}

/// The elements `at` of an axis of layer x: as a Slice for each run, or each element of a shorter list repeated, which
/// enlarges a picture.
int take(node_context& n, int x, int axis, indices at) {
  const auto times = repeats(at);
  if (times > 1 && n.shape_of(x).rank < dice::tensor::max_rank) {
    indices once;
    for (std::size_t i = 0; i < at.size(); i += times) once.push_back(at[i]);
    return repeat(n, take(n, x, axis, std::move(once)), axis, static_cast<std::int64_t>(times));
  }
  std::vector<int> runs;
  for (std::size_t i = 0; i < at.size();) {
    const std::int64_t step = i + 1 < at.size() && at[i + 1] != at[i] ? at[i + 1] - at[i] : 1;
    std::size_t end = i + 1;
    while (end < at.size() && at[end] - at[end - 1] == step) ++end;
    if (runs.size() == most_runs)
      n.refuse(fmt::format("its indices are more than {} runs of evenly spaced ones", most_runs));
    const auto count = static_cast<std::int64_t>(end - i);
    runs.push_back(n.fold() && step == 1 && count == n.shape_of(x)[axis] ? x : slice_layer(n, x, axis, at[i], count, step));
    i = end;
  }
  return runs.size() == 1 ? runs[0] : concat_layer(n, runs, axis);
}

void import_gather(node_context& n) {
  const int x = n.moved(0);
  const shape in = n.shape_of(x);
  const auto& dims = n.data(1, "indices").dims;
  const int axis = n.axis(n.integer("axis", 0), in.rank);
  auto at = n.integers(1, "indices");
  n.require(!at.empty(), "it has no index");
  for (auto& i : at) i = position(i, in[axis]);
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

/// `at[k]` for the axes of a grid `dims`, if each depends on axes of its own, which follow each other: x[rows[:, None],
/// columns] becomes first the rows, then the columns.
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
    const auto extent = in[static_cast<int>(i % axes)], to = position(all[i], extent);
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

const importer known_gather[] = {
    {"Gather", import_gather, 1, "axis",
     "indices constant; becomes Slices (at most 64 runs of evenly spaced indices), Concat, Tile and Reshape"},
    {"GatherND", import_gather_nd, 11, "batch_dims>=12",
     "indices constant; only batch_dims = 0; becomes Slices (at most 64 runs of evenly spaced indices), Concat, Tile and "
     "Reshape"}};

}  // namespace
}  // namespace onnx2hpp
