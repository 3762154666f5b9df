// Constants made by rearranging others: Concat, Gather, Expand, Tile, Split, Range.
#include "fold/broadcast.hpp"
#include "fold/whole.hpp"
#include "ops/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace onnx2hpp {
namespace {

using bytes_t = std::vector<std::byte>;

void append(bytes_t& out, const constant& c, std::int64_t first, std::int64_t count) {
  const auto width = size_of(c.type);
  const auto part = c.bytes.subspan(static_cast<std::size_t>(first) * width, static_cast<std::size_t>(count) * width);
  out.insert(out.end(), part.begin(), part.end());
}

/// Elements before, along and after an axis.
struct split_shape {
  std::int64_t outer, extent, inner;
};

/// `outer` is 0 for a tensor without elements: there is nothing to visit, however large the other extents are.
split_shape around(const std::vector<std::int64_t>& dims, int axis) {
  const auto a = static_cast<std::size_t>(axis);
  const auto inner = element_count(std::span(dims).subspan(a + 1));
  return {dims[a] * inner == 0 ? 0 : element_count(std::span(dims).first(a)), dims[a], inner};
}

void fold_concat(node_context& n) {
  n.require(n.inputs() > 0, "it has no input");
  const auto& first = n.data(0, "input");
  const int axis = n.axis(n.integer("axis", 0), first.rank());
  auto dims = first.dims;
  auto& extent = dims[axis];
  extent = 0;
  std::vector<const constant*> parts;  // those with elements
  for (int k = 0; k < n.inputs(); ++k) {
    const auto& c = n.data(k, "input");
    if (c.elements() > 0) parts.push_back(&c);
    n.require(c.type == first.type && c.rank() == first.rank(), "its inputs differ in type or rank");
    for (std::size_t a = 0; a < dims.size(); ++a)
      n.require(a == static_cast<std::size_t>(axis) || c.dims[a] == first.dims[a],
                "its inputs differ outside the concatenated axis");
    extent += c.dims[axis];
  }
  folded_size(dims);
  bytes_t out;
  const auto whole = around(dims, axis);
  for (std::int64_t o = 0; o < whole.outer; ++o)
    for (const constant* c : parts) {
      const auto count = c->dims[axis] * whole.inner;
      append(out, *c, o * count, count);
    }
  n.result(make_constant(first.type, std::move(dims), std::move(out)));
}

void fold_gather(node_context& n) {
  const auto& c = n.data(0, "input");
  const auto& at = n.data(1, "indices");
  const int axis = n.axis(n.integer("axis", 0), c.rank());
  const auto s = around(c.dims, axis);
  const auto indices = n.integers(1, "indices");
  auto dims = std::vector<std::int64_t>(c.dims.begin(), c.dims.begin() + axis);
  dims.insert(dims.end(), at.dims.begin(), at.dims.end());
  dims.insert(dims.end(), c.dims.begin() + axis + 1, c.dims.end());
  folded_size(dims);
  for (auto i : indices)
    if (i < -s.extent || i >= s.extent) n.refuse(fmt::format("its index {} is out of range", i));
  bytes_t out;
  for (std::int64_t o = 0; o < s.outer && !indices.empty(); ++o)
    for (auto i : indices) append(out, c, (o * s.extent + (i < 0 ? i + s.extent : i)) * s.inner, s.inner);
  n.result(make_constant(c.type, std::move(dims), std::move(out)));
}

void fold_expand(node_context& n) {
  const auto& c = n.data(0, "input");
  const auto to = n.integers(1, "shape");
  for (auto d : to) n.require(d >= 0, "its shape has a negative extent");
  auto dims = broadcast({c.dims, to});
  bytes_t out;
  for (auto i : broadcast_indices(c.dims, dims)) append(out, c, static_cast<std::int64_t>(i), 1);
  n.result(make_constant(c.type, std::move(dims), std::move(out)));
}

void fold_tile(node_context& n) {
  const auto& c = n.data(0, "input");
  const auto repeats = n.integers(1, "repeats");
  n.require(repeats.size() == c.dims.size(), "it does not have one repeat for each axis");
  auto dims = c.dims;
  for (std::size_t a = 0; a < dims.size(); ++a) {
    n.require(repeats[a] >= 0 && repeats[a] <= folding_limit, "one of its repeats is out of range");
    folded_size({dims[a], repeats[a]});
    dims[a] *= repeats[a];
  }
  const auto size = folded_size(dims);
  std::vector<std::int64_t> at(dims.size());
  bytes_t out;
  for (std::size_t i = 0; i < size; ++i) {
    std::int64_t from = 0;
    for (std::size_t a = 0; a < dims.size(); ++a) from = from * c.dims[a] + at[a] % c.dims[a];
    append(out, c, from, 1);
    for (std::size_t a = dims.size(); a-- > 0;) {
      if (++at[a] < dims[a]) break;
      at[a] = 0;
    }
  }
  n.result(make_constant(c.type, std::move(dims), std::move(out)));
}

void fold_split(node_context& n) {
  const auto& c = n.data(0, "input");
  const int axis = n.axis(n.integer("axis", 0), c.rank());
  const auto s = around(c.dims, axis);
  std::int64_t from = 0;
  for (int k = 0; const auto size : parts_of(n, s.extent)) {
    auto dims = c.dims;
    dims[axis] = size;
    bytes_t out;
    for (std::int64_t o = 0; o < s.outer && size > 0; ++o) append(out, c, (o * s.extent + from) * s.inner, size * s.inner);
    n.result(make_constant(c.type, std::move(dims), std::move(out)), k++);
    from += size;
  }
}

/// How many numbers lie from `start` on before `limit`, `step` apart; exact for integers, of which double has only the first
/// digits.
double count_in_range(double start, double limit, double step) { return std::ceil((limit - start) / step); }
double count_in_range(whole start, whole limit, whole step) {
  const bool up = step > 0;
  if (up ? limit <= start : limit >= start) return 0;
  const auto distance = up ? bits(limit) - bits(start) : bits(start) - bits(limit);
  const auto size = up ? bits(step) : -bits(step);
  return static_cast<double>(distance / size + (distance % size != 0));
}

/// Number `i` of a range.
double number_in_range(double start, double step, std::size_t i) { return start + static_cast<double>(i) * step; }
whole number_in_range(whole start, whole step, std::size_t i) { return plus(start, times(step, static_cast<whole>(i))); }

template <class T> void give_range(node_context& n, element type, T start, T limit, T step) {
  n.require(step != 0, "its delta is 0");
  const double count = count_in_range(start, limit, step);
  n.require(!std::isnan(count), "one of its numbers is not finite");
  if (count > static_cast<double>(folding_limit))
    n.refuse(fmt::format("it is a constant of more than {} elements", folding_limit));
  std::vector<T> out(static_cast<std::size_t>(std::max(0.0, count)));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = number_in_range(start, step, i);
  n.result(make_constant(type, {static_cast<std::int64_t>(out.size())}, std::span<const T>(out)));
}

void fold_range(node_context& n) {
  n.ignore({"stash_type"});  // of sums of 16 bits
  const auto &start = n.data(0, "start"), &limit = n.data(1, "limit"), &delta = n.data(2, "delta");
  n.require(start.elements() == 1 && limit.elements() == 1 && delta.elements() == 1,
            "its start, limit and delta are not single numbers");
  if (is_real(start.type)) return give_range(n, start.type, reals(start)[0], reals(limit)[0], reals(delta)[0]);
  give_range(n, start.type, integers(start)[0], integers(limit)[0], integers(delta)[0]);
}

const folder folds_arrange[] = {{"Concat", fold_concat}, {"Gather", fold_gather},
                                {"Expand", fold_expand}, {"Tile", fold_tile},
                                {"Split", fold_split},   {"Range", fold_range, 11, "stash_type>=27"}};

}  // namespace
}  // namespace onnx2hpp
