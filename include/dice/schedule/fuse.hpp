// Fusion groups: which layers one kernel computes together.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/schedule/program.hpp"

namespace dice::schedule {

/// Groups in the order of their outputs' ids, and for each layer the group that it is part of (-1: none, a view or graph
/// input or output).
struct fusion_groups {
  meta::array<group> list;
  meta::array<int> of_layer;
};

/// What the steps read: that of layer l reads tensors[first[l]] to tensors[first[l + 1] - 1], a group's operands in the
/// kernel's order.
struct read_lists {
  const int* first;
  const int* tensors;
};

/// Joins a convolution (or another operator that allows it), residual sum, activation and pooling into one group if they
/// share a rank and no other layer reads the tensors in between. A group runs at the position of its last layer, when all
/// its operands are ready. `uses[l]` counts the edges out of layer l; pooling is absorbed if `algorithms` support it.
/// `together(a, b)`: whether both layers are computed for the same frames.
template <class Together>
constexpr fusion_groups fuse(const graph::network_view& net, meta::view<int> owner, meta::view<algorithm::choice> algorithms,
                             const meta::array<int>& uses, const Together& together) {
  const int n = net.size();
  meta::array<group> found;
  meta::array<int> of(n, -1);
  // The group whose output is tensor t, if layer l is t's only reader, is on the same rank, and takes(group, what its anchor
  // fuses) holds; else -1.
  const auto host = [&](int t, int l, auto takes) {
    const int g = of.first[t];
    const bool joins =
        g >= 0 && uses.first[t] == 1 && owner.first[t] == owner.first[l] && found.first[g].output() == t && together(t, l);
    return joins && takes(found.first[g], net.layers.first[found.first[g].anchor].fuses) ? g : -1;
  };
  for (int l = 0; l < n; ++l) {
    const auto& layer = net.layers.first[l];
    const auto* in = net.edges.first + layer.first_edge;
    if (layer.is_input || layer.is_output || layer.view >= 0) continue;
    int g = -1;
    if (layer.fuses.function) {
      const auto takes = [](const group& to, const graph::fusion& by) { return by.takes_activation && to.activation < 0; };
      g = host(in[0].from, l, takes);
      if (g >= 0) found.first[g].activation = l;
    } else if (layer.fuses.is_residual && in[0].from != in[1].from) {
      const auto takes = [](const group& to, const graph::fusion& by) {
        return by.takes_residual && to.output() == to.anchor;
      };
      // The later operand is fresher in the cache, and the other one is ready before it.
      const int later = in[0].from > in[1].from ? 0 : 1;
      g = host(in[later].from, l, takes);
      if (g >= 0) {
        found.first[g].residual = l;
        found.first[g].residual_operand = 1 - later;
      }
    } else if (layer.fuses.pools_2x2) {
      // The kernel applies the activation only to the maximum.
      const auto takes = [&](const group& to, const graph::fusion&) {
        return algorithms.first[to.anchor].pools_2x2 && to.residual < 0 && to.pool < 0 &&
               (to.activation < 0 || net.layers.first[to.activation].fuses.monotonic);
      };
      g = host(in[0].from, l, takes);
      if (g >= 0) found.first[g].pool = l;
    }
    if (g < 0) {
      g = found.size();
      const auto& by = algorithms.first[l];
      found.push_back({.anchor = l, .rank = owner.first[l], .weight_bytes = by.packed_bytes, .tile = by.tile});
    }
    of.first[l] = g;
  }
  // Sort by output.
  fusion_groups out;
  out.of_layer = meta::array<int>(n, -1);
  out.list.reserve(found.size());
  meta::array<int> number(found.size());
  for (int l = 0; l < n; ++l)
    if (const int g = of.first[l]; g >= 0 && found.first[g].output() == l) {
      number.first[g] = out.list.size();
      out.list.push_back(found.first[g]);
    }
  for (int l = 0; l < n; ++l)
    if (of.first[l] >= 0) out.of_layer.first[l] = number.first[of.first[l]];
  return out;
}

/// The same where all layers are computed for all frames.
constexpr fusion_groups fuse(const graph::network_view& net, meta::view<int> owner, meta::view<algorithm::choice> algorithms,
                             const meta::array<int>& uses) {
  return fuse(net, owner, algorithms, uses, [](int, int) { return true; });
}

}  // namespace dice::schedule
