// The layout of each tensor: chosen to suit its kernels, the same on all ranks that hold the tensor.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/schedule/fuse.hpp"
#include "dice/schedule/program.hpp"

namespace dice::schedule {

namespace detail {

/// Whether layer l, a view, has the same offset in a blocked operand as in a plain one: its channels begin at a block. Lanes
/// beyond its last channel may hold channels of the operand.
constexpr bool keeps_blocks(const graph::network_view& net, int l) {
  const auto &in = net.layers.first[net.into(l)[0].from].output, &out = net.layers.first[l].output;
  if (in.rank != out.rank || !tensor::has_blocks(in)) return false;
  for (int a = 2; a < in.rank; ++a)
    if (in[a] != out[a]) return false;
  if (in[0] == out[0] && in[1] == out[1]) return true;
  return in[0] == 1 && net.layers.first[l].view % (tensor::block * in.product(2, in.rank)) == 0;
}

/// The same, where those of `plain` are plain.
constexpr meta::array<tensor::layout> choose_layouts(const graph::network_view& net, const fusion_groups& groups,
                                                     meta::view<algorithm::choice> algorithms,
                                                     const meta::array<char>& plain) {
  const int n = net.size();
  const auto* edges = net.edges.first;
  const auto group_of = [&](int l) -> const group* {
    const int g = groups.of_layer.first[l];
    return g >= 0 && groups.list.first[g].output() == l ? groups.list.first + g : nullptr;
  };
  const auto each_operand = [&](const group& g, auto f) {
    const auto& anchor = net.layers.first[g.anchor];
    for (int e = anchor.first_edge, end = e + anchor.edges; e < end; ++e) f(edges[e].from);
    if (g.residual >= 0) f(edges[net.layers.first[g.residual].first_edge + g.residual_operand].from);
  };
  // Forward: as the kernels write them.
  meta::array<char> blocked(n);
  for (int l = 0; l < n; ++l) {
    const auto& layer = net.layers.first[l];
    if (layer.output.dim[1] < tensor::block || !tensor::has_blocks(layer.output)) continue;
    if (layer.view >= 0 && !layer.is_output) {
      blocked.first[l] = blocked.first[net.into(l)[0].from] && keeps_blocks(net, l);
    } else if (const group* g = group_of(l)) {
      const auto& how = algorithms.first[g->anchor];
      if (how.works == algorithm::form::either) each_operand(*g, [&](int t) { blocked.first[l] |= blocked.first[t]; });
      else blocked.first[l] = how.works != algorithm::form::plain;
    }
  }
  // Backward: as their readers need or prefer them; views pass this on to their operands.
  meta::array<char> needed_plain = plain, liked(n);
  for (int l = n - 1; l >= 0; --l) {
    if (liked.first[l] == 0 || needed_plain.first[l]) blocked.first[l] = 0;
    const auto& layer = net.layers.first[l];
    if (layer.is_output) {
      needed_plain.first[edges[layer.first_edge].from] = 1;
    } else if (layer.view >= 0) {
      for (const auto& e : net.into(l)) {
        if (!keeps_blocks(net, l) || needed_plain.first[l]) needed_plain.first[e.from] = 1;
        liked.first[e.from] |= liked.first[l];
      }
    } else if (const group* g = group_of(l)) {
      const auto& how = algorithms.first[g->anchor];
      const auto stored = blocked.first[l] ? tensor::layout::blocked : tensor::layout::plain;
      const int operands = net.layers.first[g->anchor].edges;
      int k = 0;
      each_operand(*g, [&](int t) {
        const bool blocks = (k++ < operands ? how.reads(stored) : how.writes(stored)) == tensor::layout::blocked;
        liked.first[t] |= blocks;
        if (!blocks && !how.converts) needed_plain.first[t] = 1;
      });
    }
  }
  meta::array<tensor::layout> out(n, tensor::layout::plain);
  for (int l = 0; l < n; ++l) {
    const auto& layer = net.layers.first[l];
    if (layer.view >= 0 && !layer.is_output)
      blocked.first[l] = blocked.first[edges[layer.first_edge].from] && keeps_blocks(net, l);
    if (blocked.first[l]) out.first[l] = tensor::layout::blocked;
  }
  return out;
}

}  // namespace detail

/// The layout of each layer's output. A tensor with at least one block of channels is blocked if the kernel that writes it
/// and one that reads it work on blocks; views of other shapes, graph inputs and outputs, and kernels that cannot convert
/// need plain tensors. So conversions occur only between kernels that work in different layouts.
constexpr meta::array<tensor::layout> choose_layouts(const graph::network_view& net, const fusion_groups& groups,
                                                     meta::view<algorithm::choice> algorithms) {
  const int n = net.size();
  meta::array<char> plain(n);
  for (;;) {
    auto out = detail::choose_layouts(net, groups, algorithms, plain);
    // Replicas' results, of which a view of several operands is one, have one layout.
    bool differ = false;
    for (int l = 0; l < n; ++l)
      if (net.layers.first[l].edges > 1 && net.layers.first[l].view >= 0)
        for (const auto& e : net.into(l))
          if (out.first[e.from] != out.first[net.into(l)[0].from] && !plain.first[l]) {
            for (const auto& of : net.into(l)) plain.first[of.from] = 1;
            plain.first[l] = 1;
            differ = true;
          }
    if (!differ) return out;
  }
}

}  // namespace dice::schedule
