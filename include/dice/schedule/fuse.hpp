// Fusion groups: which layers one kernel computes together.
#pragma once

#include "dice/meta/array.hpp"
#include "dice/model/network.hpp"
#include "dice/schedule/program.hpp"

#include <span>

namespace dice::schedule {

/// Groups in the order of their outputs' ids, and for each layer the group that it is part of (-1: none, a view or graph
/// input or output).
struct fusion_groups {
  meta::array<group> list;
  meta::array<int> of_layer;
};

/// Joins convolution (or another operator that can), residual sum and activation into one group where they share a rank and
/// nobody else reads what lies between. A group runs where its last layer stands in the order of ids, so that all it reads
/// is ready. `uses[l]` counts the edges out of layer l.
constexpr fusion_groups fuse(const graph::network_view& net, std::span<const int> owner, const meta::array<int>& uses) {
  const int n = net.size();
  meta::array<group> found;
  meta::array<int> of(n, -1);
  // The group that layer `l` can be absorbed into as the reader of tensor t, or -1.
  const auto host = [&](int t, int l, bool residual) {
    const int g = of[t];
    if (g < 0 || uses[t] != 1 || owner[t] != owner[l] || found[g].output() != t || found[g].activation >= 0) return -1;
    const auto& anchor = net.layers[found[g].anchor].fuses;
    if (residual) return anchor.takes_residual && found[g].residual < 0 ? g : -1;
    return anchor.takes_activation ? g : -1;
  };
  for (int l = 0; l < n; ++l) {
    const auto& layer = net.layers[l];
    const auto in = net.into(l);
    if (layer.is_input || layer.is_output || layer.view >= 0) continue;
    int g = -1;
    if (layer.fuses.is_activation) {
      g = host(in[0].from, l, false);
      if (g >= 0) found[g].activation = l;
    } else if (layer.fuses.is_residual && in[0].from != in[1].from) {
      // The later operand is the fresher one in the cache, and the other is ready before it.
      const int later = in[0].from > in[1].from ? 0 : 1;
      g = host(in[later].from, l, true);
      if (g >= 0) found[g].residual = l, found[g].residual_operand = 1 - later;
    }
    if (g < 0) {
      g = found.size();
      found.push_back({.anchor = l, .rank = owner[l]});
    }
    of[l] = g;
  }
  // In the order of outputs.
  fusion_groups out;
  out.of_layer = meta::array<int>(n, -1);
  out.list.reserve(found.size());
  for (int l = 0; l < n; ++l)
    if (of[l] >= 0 && found[of[l]].output() == l) out.list.push_back(found[of[l]]);
  for (int g = 0; g < out.list.size(); ++g)
    for (int l : {out.list[g].anchor, out.list[g].residual, out.list[g].activation})
      if (l >= 0) out.of_layer[l] = g;
  return out;
}

}  // namespace dice::schedule
