// Reductions of constants.
#include "fold/broadcast.hpp"
#include "fold/whole.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace onnx2hpp {
namespace {

/// Axes that the node reduces: an attribute before opset `moved`, an input from then on; all axes if none are given.
std::vector<bool> reduced_axes(node_context& n, int rank, int moved) {
  const auto axes = n.opset() < moved ? n.integers("axes")
                    : n.given(1)      ? n.integers(1, "axes")
                                      : std::vector<std::int64_t>{};
  const bool none = n.integer("noop_with_empty_axes", 0) != 0;
  std::vector<bool> out(static_cast<std::size_t>(rank), axes.empty() && !none);
  for (auto a : axes) out[n.axis(a, rank)] = true;
  return out;
}

/// Combines all numbers, of type T, of each result. `finish` receives what was joined and how many numbers there were.
template <class T, class Join, class Finish>
void join_numbers(node_context& n, int moved, const std::vector<T>& values, T start, Join join, Finish finish) {
  const auto& c = n.data(0, "input");
  const auto over = reduced_axes(n, c.rank(), moved);
  const bool keep = n.integer("keepdims", 1) != 0;
  std::vector<std::int64_t> kept, dims;
  std::int64_t count = 1;
  for (std::size_t a = 0; a < over.size(); ++a) {
    kept.push_back(over[a] ? 1 : c.dims[a]);
    if (over[a]) count *= c.dims[a];
    if (!over[a] || keep) dims.push_back(kept[a]);
  }
  std::vector<T> out(folded_size(kept), start);
  const auto to = broadcast_indices(kept, c.dims);
  for (std::size_t i = 0; i < values.size(); ++i) out[to[i]] = join(out[to[i]], values[i]);
  for (T& v : out) v = finish(v, static_cast<T>(count));
  n.result(make_constant(c.type, std::move(dims), std::span<const T>(out)));
}

/// The number with which a reduction of integers begins. For an infinite `start`, it lies beyond all numbers of `c`; without
/// any, the result is the least or the largest number of the type.
whole first_of(const constant& c, double start) {
  using limits = std::numeric_limits<whole>;
  if (!std::isinf(start)) return static_cast<whole>(start);
  if (c.type == element::boolean) return start > 0;
  if (c.elements() > 0) return start > 0 ? limits::max() : limits::min();
  return integers(make_constant(c.type, {}, std::span<const double>(&start, 1)))[0];
}

/// Integers are exact: double would have only the first digits of large ones.
template <class Join, class Finish> void fold_reduce(node_context& n, int moved, double start, Join join, Finish finish) {
  const auto& c = n.data(0, "input");
  folded_size(c.dims);
  if (is_real(c.type)) return join_numbers(n, moved, reals(c), start, join, finish);
  join_numbers(n, moved, integers(c), first_of(c, start), join, finish);
}

constexpr auto unfinished = [](auto v, auto) { return v; };
constexpr auto joined_sum = [](auto a, auto b) { return plus(a, b); };
constexpr auto joined_squares = [](auto a, auto b) { return plus(a, times(b, b)); };
constexpr double infinity = HUGE_VAL;

/// A reduction of numbers that are put in order or divided.
template <class Join, class Finish> void fold_ordered(node_context& n, double start, Join join, Finish finish) {
  require_order(n.data(0, "input"));
  fold_reduce(n, 18, start, join, finish);
}

const folder folds_reduce[] = {
    {"ReduceSum", [](node_context& n) { fold_reduce(n, 13, 0, joined_sum, unfinished); }},
    {"ReduceMean",
     [](node_context& n) {
       fold_ordered(n, 0, joined_sum, [](auto v, auto k) { return std::is_integral_v<decltype(v)> && k == 0 ? v : v / k; });
     }},
    {"ReduceProd",
     [](node_context& n) {
       fold_reduce(
           n, 18, 1, [](auto a, auto b) { return times(a, b); }, unfinished);
     }},
    {"ReduceMax",
     [](node_context& n) {
       fold_ordered(
           n, -infinity, [](auto a, auto b) { return larger(a, b); }, unfinished);
     }},
    {"ReduceMin",
     [](node_context& n) {
       fold_ordered(
           n, infinity, [](auto a, auto b) { return smaller(a, b); }, unfinished);
     }},
    {"ReduceSumSquare", [](node_context& n) { fold_reduce(n, 18, 0, joined_squares, unfinished); }},
    {"ReduceL2",
     [](node_context& n) {
       folded_size(n.data(0, "input").dims);
       join_numbers(n, 18, reals(n.data(0, "input")), 0.0, joined_squares, [](double v, double) { return std::sqrt(v); });
     }},
};

}  // namespace
}  // namespace onnx2hpp
