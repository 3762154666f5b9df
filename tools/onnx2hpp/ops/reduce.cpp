// Reductions, and global pooling other than by means.
#include "ops/layers.hpp"

#include <limits>

namespace onnx2hpp {

using dice::ops::reduce;
using dice::ops::reduction;
using kind = dice::graph::activation::kind;

int reduce_layer(node_context& n, int x, reduction how, const std::vector<int>& axes, bool keep) {
  reduce op{.keep = keep, .how = how};
  for (const int a : axes) op.over[a] = true;
  return n.add(op, {x});
}

namespace {

struct reduced {
  std::vector<int> axes;
  bool keep = true, nothing = false;
};

/// The axes of the node: an attribute before opset `moved`, an input from then on; all if none are given.
reduced axes_of(node_context& n, int rank, int moved) {
  const auto given = n.opset() < moved ? n.integers("axes")
                     : n.given(1)      ? n.integers(1, "axes")
                                       : std::vector<std::int64_t>{};
  reduced out;
  out.keep = n.integer("keepdims", 1) != 0;
  out.nothing = n.integer("noop_with_empty_axes", 0) != 0 && given.empty();
  for (const auto a : given) out.axes.push_back(n.axis(a, rank));
  for (int a = 0; given.empty() && a < rank; ++a) out.axes.push_back(a);
  return out;
}

/// f(reduction of g(x)), where f and g may be none.
template <reduction How, int Moved = 18, kind Before = kind::none, kind After = kind::none>
void import_reduce(node_context& n) {
  int x = n.activation(0);
  const auto r = axes_of(n, n.shape_of(x).rank, Moved);
  if (r.nothing && Before == kind::none && After == kind::none && How != reduction::total_square) return n.pass();
  if (Before != kind::none) x = function_layer(n, x, {Before});
  if (!r.nothing) x = reduce_layer(n, x, How, r.axes, r.keep);
  else if (How == reduction::total_square) x = multiply_layers(n, x, x);
  if (After != kind::none) x = function_layer(n, x, {After});
  n.result(x);
}

/// log Σ exp(x) = m + log Σ exp(x - m), where m is the maximum, or a finite number near it: infinity less infinity is NaN.
void import_log_sum_exp(node_context& n) {
  const int x = n.activation(0);
  const auto r = axes_of(n, n.shape_of(x).rank, 18);
  if (r.nothing) return n.pass();
  constexpr float most = std::numeric_limits<float>::max();
  const int top = clip_layer(n, reduce_layer(n, x, reduction::largest, r.axes, true), -most, most);
  const int exps = function_layer(n, subtract_layers(n, x, top), {kind::exp});
  const int out = add_layers(n, function_layer(n, reduce_layer(n, exps, reduction::total, r.axes, true), {kind::log}), top);
  n.result(r.keep ? out : reduce_layer(n, out, reduction::largest, r.axes, false));
}

template <reduction How> void import_arg(node_context& n) {
  const int x = n.activation(0);
  const shape in = n.shape_of(x);
  reduce op{.keep = n.integer("keepdims", 1) != 0, .how = How};
  const int axis = n.axis(n.integer("axis", 0), in.rank);
  op.over[axis] = true;
  op.last_index = n.integer("select_last_index", 0) != 0;
  n.require(in[axis] <= 1 << 24, "its axis has more than 2^24 elements, so float32 cannot hold every index");
  n.holds({.type = element::int64, .most = static_cast<double>(in[axis] - 1)});
  n.result(n.add(op, {x}));
}

std::vector<int> pixels(node_context& n, const shape& in) {
  n.require(in.rank >= 3, "its input has no axes besides N and C");
  std::vector<int> out;
  for (int a = 2; a < in.rank; ++a) out.push_back(a);
  return out;
}

void import_global_max_pool(node_context& n) {
  const int x = n.activation(0);
  n.result(reduce_layer(n, x, reduction::largest, pixels(n, n.shape_of(x)), true));
}

void import_global_lp_pool(node_context& n) {
  const int x = n.activation(0);
  const auto p = static_cast<double>(n.integer("p", 2));
  n.require(p >= 1, "its p is not positive");
  const int powers = power(n, function_layer(n, x, {kind::abs}), p);
  n.result(power(n, reduce_layer(n, powers, reduction::total, pixels(n, n.shape_of(x)), true), 1 / p));
}

constexpr const char* reduce_attributes = "axes<18 keepdims noop_with_empty_axes>=18";

const importer known_reduce[] = {
    {"ArgMax", import_arg<reduction::arg_max>, 1, "axis keepdims select_last_index>=12",
     "of at most 2^24 elements; gives integers"},
    {"ArgMin", import_arg<reduction::arg_min>, 1, "axis keepdims select_last_index>=12",
     "of at most 2^24 elements; gives integers"},
    {"GlobalLpPool", import_global_lp_pool, 1, "p", "becomes Abs, Pow, ReduceSum, Pow"},
    {"GlobalMaxPool", import_global_max_pool, 1, "", "becomes ReduceMax"},
    {"ReduceL1", import_reduce<reduction::total, 18, kind::abs>, 1, reduce_attributes,
     "axes constant; becomes Abs and ReduceSum"},
    {"ReduceL2", import_reduce<reduction::total_square, 18, kind::none, kind::sqrt>, 1, reduce_attributes,
     "axes constant; becomes ReduceSumSquare and Sqrt"},
    {"ReduceLogSum", import_reduce<reduction::total, 18, kind::none, kind::log>, 1, reduce_attributes,
     "axes constant; becomes ReduceSum and Log"},
    {"ReduceLogSumExp", import_log_sum_exp, 1, reduce_attributes,
     "axes constant; becomes ReduceMax, Clip, Sub, Exp, ReduceSum, Log, Add"},
    {"ReduceMax", import_reduce<reduction::largest>, 1, reduce_attributes, "axes constant"},
    {"ReduceMean", import_reduce<reduction::mean>, 1, reduce_attributes, "axes constant"},
    {"ReduceMin", import_reduce<reduction::smallest>, 1, reduce_attributes, "axes constant"},
    {"ReduceProd", import_reduce<reduction::product>, 1, reduce_attributes, "axes constant"},
    {"ReduceSum", import_reduce<reduction::total, 13>, 1, "axes<13 keepdims noop_with_empty_axes>=13", "axes constant"},
    {"ReduceSumSquare", import_reduce<reduction::total_square>, 1, reduce_attributes, "axes constant"}};

}  // namespace
}  // namespace onnx2hpp
