// How each layer of a network of parts is computed.
#pragma once

#include "dice/algorithm/table.hpp"
#include "dice/graph/any_operator.hpp"
#include "dice/meta/array.hpp"
#include "dice/parts/part.hpp"
#include "dice/parts/planned.hpp"

#include <concepts>

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
