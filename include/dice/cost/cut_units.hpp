// Builds problems from networks, mappings and clusters, all as values.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/cost/problem.hpp"
#include "dice/cost/time.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/platform/cluster.hpp"
#include "dice/schedule/carried.hpp"
#include "dice/schedule/fuse.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dice::cost {

/// Cut units: groups of layers that one kernel computes, and single layers, in the order of their last layers, which is
/// topological.
struct cut_unit_list {
  int count = 0;
  meta::array<int> of_layer;
};

namespace detail {

constexpr meta::array<int> uses_of(const graph::network_view& net) {
  meta::array<int> uses(net.size());
  for (const auto& e : net.edges) ++uses[e.from];
  return uses;
}

/// Whether layer l's output lies in its operands' memory: a view, or a Concat of tensors that are computed in place.
constexpr bool is_alias(const graph::network_view& net, int l) {
  if (net.layers[l].view >= 0) return true;
  bool joins = !net.into(l).empty();
  for (const auto& e : net.into(l)) joins = joins && e.joins >= 0;
  return joins;
}

/// Whether layer l is computed together with an earlier layer.
constexpr bool follows(const schedule::fusion_groups& groups, int l) {
  return groups.of_layer[l] >= 0 && groups.list[groups.of_layer[l]].anchor != l;
}

}  // namespace detail

/// The cut units of a network with fusion groups `groups`.
constexpr cut_unit_list cut_units_of(const graph::network_view& net, const schedule::fusion_groups& groups) {
  cut_unit_list out;
  meta::array<int> of_group(groups.list.size(), -1);
  out.of_layer = meta::array<int>(net.size(), -1);
  for (int l = 0; l < net.size(); ++l) {
    const int g = groups.of_layer[l];
    if (g < 0) out.of_layer[l] = out.count++;
    else if (groups.list[g].output() == l) of_group[g] = out.count++;
  }
  for (int l = 0; l < net.size(); ++l)
    if (const int g = groups.of_layer[l]; g >= 0) out.of_layer[l] = of_group[g];
  return out;
}

/// Fills in a problem's data of the network: cut units, and what crosses each cut. A tensor that lies within a Concat
/// crosses no cut that the Concat crosses, as in plans (schedule/carried.hpp). So networks with branches need not be a chain
/// of modules, as they must in Velasco-Montero et al. (2023), Section III-B.
constexpr void set_network(problem& p, const graph::network_view& net, const cut_unit_list& cut_units) {
  p.cut_units = cut_units.count;
  p.cut_unit_of = cut_units.of_layer;
  p.crossing = meta::array<std::int64_t>(cut_units.count + 1);
  p.messages = meta::array<int>(cut_units.count + 1);
  const std::span<const int> position(cut_units.of_layer.data(), static_cast<std::size_t>(cut_units.of_layer.size()));
  schedule::each_crossing(net, position, [&](int t, int first, int end, int times) {
    const auto bytes = times * net.layers[t].output.bytes();
    p.crossing[first + 1] += bytes;
    p.messages[first + 1] += times;
    p.crossing[end + 1] -= bytes;
    p.messages[end + 1] -= times;
  });
  for (int k = 0; k < cut_units.count; ++k) {
    p.crossing[k + 1] += p.crossing[k];
    p.messages[k + 1] += p.messages[k];
  }
}

/// Fills in the time of the cut units, given seconds[l] for layer l and fusion groups `groups`.
constexpr void set_seconds(costs& c, const cut_unit_list& cut_units, const schedule::fusion_groups& groups,
                           std::span<const double> seconds) {
  c.seconds = meta::array<double>(cut_units.count + 1);
  for (int l = 0; l < cut_units.of_layer.size(); ++l)
    if (!detail::follows(groups, l)) c.seconds[cut_units.of_layer[l] + 1] += seconds[l];
  for (int k = 0; k < cut_units.count; ++k) c.seconds[k + 1] += c.seconds[k];
}

/// Fills in the memory of the cut units, given algorithms[l] for layer l and fusion groups `groups`. Replaces M^coeffs and
/// M^outbuffs of AutoDiCE (Guo et al. 2023, Section IV-A 2): weights count as kernels read them (Winograd's are larger than
/// the model's), and tensors share memory when they are not alive at once, where AutoDiCE adds up all of them.
constexpr void set_memory(costs& c, const graph::network_view& net, const cut_unit_list& cut_units,
                          const schedule::fusion_groups& groups, std::span<const algorithm::choice> algorithms) {
  const int n = net.size(), count = cut_units.count;
  c.weights = meta::array<std::int64_t>(count + 1);
  c.live = meta::array<std::int64_t>(count);
  meta::array<int> last(n);  // last cut unit during which a tensor's memory holds it
  for (int l = n - 1; l >= 0; --l) {
    last[l] = std::max(last[l], cut_units.of_layer[l]);
    if (detail::is_alias(net, l))
      for (const auto& e : net.into(l)) last[e.from] = std::max(last[e.from], last[l]);
    else
      for (const auto& e : net.into(l)) last[e.from] = std::max(last[e.from], cut_units.of_layer[l]);
  }
  // Change in the bytes of live tensors at each cut unit; summed up at the end.
  meta::array<std::int64_t> change(count + 1);
  for (int l = 0; l < n; ++l) {
    const auto& layer = net.layers[l];
    const auto& how = algorithms[l];
    const int k = cut_units.of_layer[l];
    if (!detail::follows(groups, l)) {
      c.weights[k + 1] += how.packed_bytes ? how.packed_bytes : layer.parameter_bytes;
      c.live[k] += how.scratch_bytes;
    }
    const bool within = groups.of_layer[l] >= 0 && groups.list[groups.of_layer[l]].output() != l;
    if (!within && !detail::is_alias(net, l)) {
      change[k] += layer.output.bytes();
      change[last[l] + 1] -= layer.output.bytes();
    }
  }
  std::int64_t tensors = 0;
  for (int k = 0; k < count; ++k) {
    tensors += change[k];
    c.live[k] += tensors;
    c.weights[k + 1] += c.weights[k];
  }
}

/// Fills in the time that messages cost processor `on`.
constexpr void set_messages(costs& c, const problem& p, const platform::processor_info& on) {
  const auto times = [&](const platform::link& by) {
    meta::array<double> out(p.cut_units + 1);
    for (int k = 0; k <= p.cut_units && by.bytes_per_s > 0; ++k) out[k] = p.transfer(by, k);
    return out;
  };
  c.sending = times(on.sending);
  c.receiving = times(on.receiving);
}

/// Fills in hosts and connections.
constexpr void set_hosts(problem& p, const platform::cluster_view& c) {
  p.hosts = c.size();
  p.links.reserve(p.hosts * p.hosts);
  for (const auto& l : c.links) p.links.push_back(l);
  for (int h = 0; h < p.hosts; ++h) {
    int like = h;
    for (int other = 0; other < h && like == h; ++other) {
      bool same = c.hosts[h].kind == c.hosts[other].kind;
      for (int to = 0; to < p.hosts; ++to)
        if (to != h && to != other) same = same && c.between(h, to) == c.between(other, to);
      if (same) like = p.host_kind[other];
    }
    p.host_kind.push_back(like);
  }
}

}  // namespace dice::cost
