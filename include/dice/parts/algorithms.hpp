// How each layer of a network of parts is computed.
#pragma once

#include "dice/algorithm/small_parts.hpp"
#include "dice/algorithm/table.hpp"
#include "dice/graph/any_operator.hpp"
#include "dice/meta/array.hpp"
#include "dice/parts/part.hpp"
#include "dice/parts/planned.hpp"
#include "dice/placement/assignment.hpp"
#include "dice/placement/words.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>

namespace dice::parts {

/// How method `by` computes `op`: with its algorithm number `variant`, or the one that it chooses if that is negative.
template <graph::operator_value Any>
[[gnu::cold]] constexpr algorithm::choice choice_of(algorithm::method by, const Any& op, graph::shapes in,
                                                    const tensor::shape& result, int variant = -1) {
  algorithm::choice out;
  algorithm::for_each_method([&]<algorithm::method M>() {
    if (by == M)
      out = op.visit([&](const auto& o) {
        return variant < 0 ? algorithm::choose<M>(o, in, result) : algorithm::variant<M>(o, in, result, variant);
      });
  });
  return out;
}

/// Rows and columns of the largest part of a result of shape `s` in a work item.
constexpr std::array<std::int64_t, 2> largest_part(const placement::assignment& where, const placement::work_item& w,
                                                   const tensor::shape& s) {
  const auto part = [](std::int64_t of, std::int64_t share, std::int64_t all) { return (of * share + all - 1) / all; };
  std::int64_t most = 1, all = 0;
  for (const int share : where.shares_of(w)) {
    most = std::max<std::int64_t>(most, share);
    all += share;
  }
  if (all == 0) all = w.ranks;
  std::array<std::int64_t, 2> out{s[2], s[3]};
  if (w.cut == placement::geometry::rows) out[0] = part(s[2], most, all);
  if (w.cut == placement::geometry::columns) out[1] = part(s[3], most, all);
  if (w.cut == placement::geometry::grid) out = {part(s[2], 1, w.down), part(s[3], 1, w.across)};
  return out;
}

/// How the parts of a layer in work item w are computed, if `whole` is how method `by` computes all of it.
template <graph::operator_value Any>
[[gnu::cold]] constexpr algorithm::choice for_parts(algorithm::method by, const Any& op, graph::shapes in,
                                                    const tensor::shape& result, const algorithm::choice& whole,
                                                    const placement::assignment& where, const placement::work_item& w) {
  if (whole.packed_bytes <= algorithm::cached_bytes || !w.has_parts() || result.rank != 4) return whole;
  const auto most = largest_part(where, w, result);
  return op.visit([&]<class Op>(const Op& o) {
    algorithm::choice out = whole;
    if constexpr (std::same_as<Op, ops::conv>)
      algorithm::for_each_method([&]<algorithm::method M>() {
        if (by == M) out = algorithm::for_parts<M>(o, in, result, whole, most);
      });
    return out;
  });
}

/// Layer l of a network of parts, computed by the algorithm of the layer whose part it is: `whole`.
template <std::same_as<parts_view> View>
constexpr algorithm::choice choice_of(algorithm::method by, const View& all, int l, const algorithm::choice& whole) {
  if (all.restricted[l] < 0) return whole;
  return choice_of(by, all.operators[all.restricted[l]], all.net.operands(l), all.net.layers[l].output,
                   all.parts[l].is_own() ? whole.variant : -1);
}

/// Writes the algorithms of all layers into `out`.
template <class Input, class Choices> constexpr void choose(const Input& in, const parts_view& all, Choices& out) {
  for (int l = 0; l < all.net.size(); ++l)
    out[l] = choice_of(algorithm::method_of(in.devices[all.owner[l]].unit), all, l,
                       in.algorithm_of(all.parts[l].layer, all.owner[l]));
}

}  // namespace dice::parts
