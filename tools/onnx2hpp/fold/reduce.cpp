// Reductions of constants.
#include "fold/broadcast.hpp"

#include <algorithm>
#include <cmath>

namespace onnx2hpp {
namespace {

/// Axes that the node reduces: an attribute before opset `moved`, an input from then on; all axes if none are given.
std::vector<bool> reduced_axes(node_context& n, int rank, int moved) {
  const auto axes = n.opset() < moved ? n.integers("axes")
                    : n.given(1)      ? n.integers(1, "axes")
                                      : std::vector<std::int64_t>{};
  const bool none = n.integer("noop_with_empty_axes", 0) != 0;
  std::vector<bool> out(static_cast<std::size_t>(rank), axes.empty() && !none);
  for (auto a : axes) out[static_cast<std::size_t>(n.axis(a, rank))] = true;
  return out;
}

template <class Join, class Finish> void fold_reduce(node_context& n, int moved, double start, Join join, Finish finish) {
  const auto& c = n.data(0, "input");
  folded_size(c.dims);
  const auto over = reduced_axes(n, c.rank(), moved);
  const bool keep = n.integer("keepdims", 1) != 0;
  std::vector<std::int64_t> kept, dims;
  std::int64_t count = 1;
  for (std::size_t a = 0; a < over.size(); ++a) {
    kept.push_back(over[a] ? 1 : c.dims[a]);
    if (over[a]) count *= c.dims[a];
    if (!over[a] || keep) dims.push_back(kept[a]);
  }
  if (c.type == element::boolean) start = std::max(start, 0.0);  // the least truth value
  std::vector<double> out(folded_size(kept), start);
  const auto values = reals(c);
  const auto to = broadcast_indices(kept, c.dims);
  for (std::size_t i = 0; i < values.size(); ++i) out[to[i]] = join(out[to[i]], values[i]);
  for (double& v : out) v = finish(v, static_cast<double>(count));
  n.result(make_constant(c.type, std::move(dims), std::span<const double>(out)));
}

constexpr auto as_is = [](double v, double) { return v; };
constexpr double infinity = HUGE_VAL;

const folder folds_reduce[] = {
    {"ReduceSum",
     [](node_context& n) {
       fold_reduce(
           n, 13, 0, [](double a, double b) { return a + b; }, as_is);
     }},
    {"ReduceMean",
     [](node_context& n) {
       fold_reduce(
           n, 18, 0, [](double a, double b) { return a + b; }, [](double v, double k) { return v / k; });
     }},
    {"ReduceProd",
     [](node_context& n) {
       fold_reduce(
           n, 18, 1, [](double a, double b) { return a * b; }, as_is);
     }},
    {"ReduceMax",
     [](node_context& n) {
       fold_reduce(
           n, 18, -infinity, [](double a, double b) { return std::max(a, b); }, as_is);
     }},
    {"ReduceMin",
     [](node_context& n) {
       fold_reduce(
           n, 18, infinity, [](double a, double b) { return std::min(a, b); }, as_is);
     }},
    {"ReduceSumSquare",
     [](node_context& n) {
       fold_reduce(
           n, 18, 0, [](double a, double b) { return a + b * b; }, as_is);
     }},
    {"ReduceL2",
     [](node_context& n) {
       fold_reduce(
           n, 18, 0, [](double a, double b) { return a + b * b; }, [](double v, double) { return std::sqrt(v); });
     }},
};

}  // namespace
}  // namespace onnx2hpp
