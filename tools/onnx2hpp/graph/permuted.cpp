#include "graph/permuted.hpp"

#include "ops/permute.hpp"

#include "dice/graph/ops.hpp"

#include <algorithm>

namespace onnx2hpp {

namespace {

namespace ops = dice::ops;
using dice::tensor::max_rank;

/// An array with a number for each axis.
template <class T> std::array<T, max_rank> placed(const std::array<T, max_rank>& values, const order& axes) {
  auto out = values;
  for (int a = 0; a < axes.rank; ++a) out[axes[a]] = values[a];
  return out;
}

/// A constant that is broadcast to a value.
parameter placed(const parameter& p, const order& axes) {
  if (p.extents.elements() == 1) return p;
  std::vector<std::int64_t> dims(static_cast<std::size_t>(axes.rank - p.extents.rank), 1);
  dims.insert(dims.end(), p.extents.dim, p.extents.dim + p.extents.rank);
  constant wide = p.source;
  wide.dims = std::move(dims);
  std::vector<std::size_t> perm;
  const order inverse = axes.inverse();
  for (int a = 0; a < axes.rank; ++a) perm.push_back(static_cast<std::size_t>(inverse[a]));
  parameter out = p;
  shape value = axes.stored(shape_of(wide));
  bool moves = inverse.moves(shape_of(wide));
  if (moves) wide = permute(wide, perm);
  else wide.dims = {value.dim, value.dim + value.rank};
  out.source = std::move(wide);
  out.extents = value;
  return out;
}

/// The range of axes [first, last) where the tensor has the value's; none if it is not a range there.
std::optional<std::pair<int, int>> range(int first, int last, const order& axes) {
  int least = max_rank, most = -1;
  for (int a = first; a < last; ++a) {
    least = std::min(least, axes[a]);
    most = std::max(most, axes[a]);
  }
  if (most - least != last - first - 1) return {};
  return std::pair(least, most + 1);
}

using same = std::optional<permuted_layer>;

same as_it_is(const layer& l, const order& axes) { return permuted_layer{l.op, l.parameters, axes}; }

/// With other attributes.
template <class Op> same changed(const layer& l, const Op& made, const order& axes, std::vector<parameter> parameters = {}) {
  operation op = l.op;
  *op.get_if<Op>() = made;
  return permuted_layer{std::move(op), std::move(parameters), axes};
}

// Operators whose attributes say something about axes.

template <dice::graph::arithmetic F> same of(const ops::binary<F>& op, const layer& l, const order& axes, const shape&) {
  if (op.which == ops::constant::none) return as_it_is(l, axes);
  auto constant = placed(l.parameters[0], axes);
  auto made = op;
  made.fixed = constant.extents;
  return changed(l, made, axes, {std::move(constant)});
}
same of(const ops::sum&, const layer& l, const order& axes, const shape&) { return as_it_is(l, axes); }
same of(const ops::concat& op, const layer& l, const order& axes, const shape&) {
  return changed(l, ops::concat{.axis = axes[op.axis]}, axes);
}
same of(const ops::pad& op, const layer& l, const order& axes, const shape&) {
  auto made = op;
  made.before = placed(op.before, axes);
  made.after = placed(op.after, axes);
  return changed(l, made, axes);
}
same of(const ops::slice& op, const layer& l, const order& axes, const shape&) {
  auto made = op;
  made.starts = placed(op.starts, axes);
  made.steps = placed(op.steps, axes);
  made.extents = axes.stored(op.extents);
  return changed(l, made, axes);
}
same of(const ops::tile& op, const layer& l, const order& axes, const shape&) {
  auto made = op;
  made.repeats = placed(op.repeats, axes);
  return changed(l, made, axes);
}
same of(const ops::gather& op, const layer& l, const order& axes, const shape&) {
  return changed(l, ops::gather{.axis = axes[op.axis], .count = op.count}, axes, l.parameters);
}
same of(const ops::resize& op, const layer& l, const order& axes, const shape&) {
  auto made = op;
  made.factors = placed(op.factors, axes);
  made.scales = placed(op.scales, axes);
  made.begin = placed(op.begin, axes);
  made.end = placed(op.end, axes);
  if (op.to.rank == axes.rank) made.to = axes.stored(op.to);
  return changed(l, made, axes);
}
same of(const ops::reduce& op, const layer& l, const order& axes, const shape&) {
  auto made = op;
  made.over = placed(op.over, axes);
  if (op.keep) return changed(l, made, axes);
  order result(l.result.rank);
  int value_axis = 0;
  for (int a = 0; a < axes.rank; ++a) {
    if (op.over[a]) continue;
    int held_axis = 0;
    for (int h = 0; h < axes[a]; ++h) held_axis += !made.over[h];
    result[value_axis++] = held_axis;
  }
  return changed(l, made, result);
}
same of(const ops::softmax& op, const layer& l, const order& axes, const shape&) {
  const auto over = range(op.first, op.last, axes);
  if (!over) return {};
  auto made = op;
  made.first = over->first;
  made.last = over->second;
  return changed(l, made, axes);
}
same of(const ops::normalization& op, const layer& l, const order& axes, const shape&) {
  const auto over = range(op.first, op.last, axes);
  if (!over) return {};
  auto made = op;
  made.first = over->first;
  made.last = over->second;
  std::vector<parameter> parameters;
  for (const auto& p : l.parameters) parameters.push_back(placed(p, axes));
  if (op.scale) made.scale_shape = parameters[0].extents;
  if (op.bias) made.bias_shape = parameters[op.scale ? 1 : 0].extents;
  return changed(l, made, axes, std::move(parameters));
}
same of(const ops::batch_normalization&, const layer& l, const order& axes, const shape&) {
  return axes[1] == 1 ? as_it_is(l, axes) : std::nullopt;
}
/// If the value has channels last and the tensor channels first, it is a convolution with a window of one pixel.
same of(const ops::mat_mul& op, const layer& l, const order& axes, const shape& held) {
  if (held.rank != 4 || axes[0] != 0 || axes[3] != 1) return {};
  auto parameters = l.parameters;
  parameters[0].extents = {op.columns, op.depth, 1, 1};
  return permuted_layer{ops::conv{.channels = op.columns, .bias = op.bias}, std::move(parameters), axes};
}

template <class... Op> struct op_list {};
using with_axes = op_list<ops::add, ops::sub, ops::mul, ops::div, ops::max, ops::min, ops::p_relu, ops::pow, ops::where,
                          ops::sum, ops::concat, ops::pad, ops::slice, ops::tile, ops::gather, ops::resize, ops::reduce,
                          ops::softmax, ops::normalization, ops::batch_normalization, ops::mat_mul>;
using joining = op_list<ops::add, ops::sub, ops::mul, ops::div, ops::max, ops::min, ops::p_relu, ops::pow, ops::where,
                        ops::sum, ops::concat>;

template <class... Op> bool is_one_of(const operation& op, op_list<Op...>) { return (op.get_if<Op>() || ...); }

/// Whether each element of the result comes from the element at its place.
bool is_of_elements(const operation& op) {
  bool activation = false;
#define DICE_TRIES(name) \
  if constexpr (dice::graph::activation_operator<ops::name>) activation = activation || op.get_if<ops::name>();
  DICE_COMPUTED_OPERATORS(DICE_TRIES)
#undef DICE_TRIES
  return activation || op.get_if<ops::identity>() || op.get_if<ops::dropout>();
}

template <class... Op> same with(const layer& l, const order& axes, const shape& held, op_list<Op...>) {
  same out;
  const auto attempt = [&](const auto* op) {
    if (op) out = of(*op, l, axes, held);
    return op != nullptr;
  };
  (attempt(l.op.get_if<Op>()) || ...);
  return out;
}

}  // namespace

bool joins(const operation& op) { return is_one_of(op, joining{}); }

std::optional<permuted_layer> permuted(const layer& l, const order& axes, const shape& held) {
  return is_of_elements(l.op) ? as_it_is(l, axes) : with(l, axes, held, with_axes{});
}

std::optional<order> regroup(const shape& from, const shape& to, const order& axes) {
  std::vector<int> sources, results;  // axes other than those of extent 1, which may be anywhere
  for (int a = 0; a < from.rank; ++a)
    if (from[a] != 1) sources.push_back(a);
  for (int a = 0; a < to.rank; ++a)
    if (to[a] != 1) results.push_back(a);
  // The first axis of `to` in each group, with the axis that holds the group's first source.
  std::vector<std::pair<int, int>> groups;
  std::size_t s = 0, r = 0;
  while (s < sources.size()) {
    groups.emplace_back(axes[sources[s]], results[r]);
    std::int64_t in = from[sources[s++]], out = to[results[r++]];
    while (in != out)
      if (in < out) {
        const int before = axes[sources[s - 1]], next = axes[sources[s]];
        for (int h = before + 1; h < next; ++h)
          if (axes.stored(from)[h] != 1) return {};
        if (next < before) return {};
        in *= from[sources[s++]];
      } else {
        out *= to[results[r++]];
      }
  }
  // Axes of extent 1 stay behind the axis before them, the first ones in front of all.
  order out(to.rank);
  int at = 0;
  const auto take = [&](int a, bool first) {
    for (;
         a < to.rank && (first || to[a] == 1 || std::ranges::find(groups, a, &std::pair<int, int>::second) == groups.end());
         ++a, first = false)
      out[a] = at++;
  };
  for (int a = 0; a < to.rank && to[a] == 1; ++a) out[a] = at++;
  auto ordered = groups;
  std::ranges::sort(ordered);
  for (const auto& g : ordered) take(g.second, true);
  return out;
}

}  // namespace onnx2hpp
