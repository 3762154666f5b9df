// A network on a cluster as values, and the problems that searches and predictions derive from it.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/cost/cut_units.hpp"
#include "dice/cost/problem.hpp"
#include "dice/graph/network.hpp"
#include "dice/platform/cluster.hpp"
#include "dice/platform/dev.hpp"
#include "dice/schedule/fuse.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace dice::cost {

/// The time that each processor of a cluster takes for each layer of a network: made at compile time, used then and at run
/// time.
struct setting {
  graph::network_view net;
  platform::cluster_view cluster;
  std::span<const std::span<const double>> seconds;  ///< by processor and layer; 0 if counted with another layer
  std::span<const std::span<const algorithm::choice>> algorithms;  ///< by processor, of each layer
  std::span<const bool> usable;                                    ///< by processor: its backend is built in
};

/// The problem of finding a mapping: devices are the usable processors of all hosts.
constexpr problem problem_of(const setting& s) {
  problem p;
  const meta::array<int> nobody(s.net.size());  // all layers on one rank
  const std::span<const int> owner(nobody.data(), static_cast<std::size_t>(nobody.size()));
  const auto uses = detail::uses_of(s.net);
  const auto fused = [&](std::size_t processor) { return schedule::fuse(s.net, owner, s.algorithms[processor], uses); };
  // Cut units are the fusion groups of CPUs, which fuse the most.
  std::size_t cpu = 0;
  for (std::size_t k = 0; k < s.cluster.processors.size(); ++k)
    if (s.cluster.processors[k].unit.processor() == platform::processor::cpu) cpu = k;
  const cut_unit_list cut_units = cut_units_of(s.net, fused(cpu));
  set_network(p, s.net, cut_units);
  set_hosts(p, s.cluster);
  meta::array<int> kind_of(static_cast<int>(s.cluster.processors.size()), -1);
  // Processors of one backend compute layers the same way and need the same memory.
  struct way {
    const algorithm::choice* algorithms = nullptr;
    schedule::fusion_groups groups;
    costs memory;
  };
  meta::array<way> ways;
  const auto way_of = [&](std::size_t processor) -> const way& {
    for (const auto& w : ways)
      if (w.algorithms == s.algorithms[processor].data()) return w;
    ways.push_back({s.algorithms[processor].data(), fused(processor), {}});
    auto& added = ways[ways.size() - 1];
    set_memory(added.memory, s.net, cut_units, added.groups, s.algorithms[processor]);
    return added;
  };
  for (int h = 0; h < s.cluster.size(); ++h) {
    const auto& host = s.cluster.hosts[h];
    for (int k = 0; k < host.processors; ++k) {
      const int at = host.first_processor + k;
      const int processor = at;
      if (!s.usable[processor]) continue;
      if (host.kind == h) {
        kind_of[at] = p.kinds.size();
        const way& how = way_of(processor);
        costs c = how.memory;
        set_seconds(c, cut_units, how.groups, s.seconds[processor]);
        set_messages(c, p, s.cluster.processors[processor]);
        p.kinds.push_back(c);
      } else {
        kind_of[at] = kind_of[s.cluster.hosts[host.kind].first_processor + k];
      }
      const auto& about = s.cluster.processors[processor];
      p.devices.push_back({h, at, kind_of[at], about.busy_watts, about.idle_watts, about.memory});
    }
  }
  complete(p);
  return p;
}

/// A rank of a mapping: where it is, and what it computes with.
struct placed_rank {
  platform::unit unit{};
  std::span<const int> cores{};
  int on_host = -1;  ///< -1: on no host of the cluster
};

/// The processor of the rank's host whose unit is the rank's, with the same cores; -1 if there is none, or several.
constexpr int exact_processor(const platform::cluster_view& c, const placed_rank& rank) {
  const auto& host = c.hosts[rank.on_host];
  int found = -1;
  for (int k = 0; k < host.processors; ++k) {
    const auto& about = c.processors[host.first_processor + k];
    const bool same = about.unit.what == rank.unit.what && about.unit.count == rank.unit.count &&
                      about.unit.index == rank.unit.index &&
                      std::equal(about.cores.begin(), about.cores.end(), rank.cores.begin(), rank.cores.end());
    if (same && found >= 0) return -1;
    if (same) found = host.first_processor + k;
  }
  return found;
}

/// The part of processor `k` that `rank` uses: 0 … 1. Of the processors of a board, a rank whose unit is that of one uses
/// this one only.
constexpr double share_of(const platform::cluster_view& c, std::size_t k, const placed_rank& rank) {
  const auto& host = c.hosts[rank.on_host];
  const auto& about = c.processors[k];
  if (host.processors > 1)
    if (const int exact = exact_processor(c, rank); exact >= 0) return static_cast<int>(k) == exact ? 1 : 0;
  const bool gpu = rank.unit.processor() == platform::processor::gpu;
  if (about.unit.processor() != rank.unit.processor()) return 0;
  if (gpu) return about.unit.index == rank.unit.index ? 1 : 0;
  if (rank.unit.count == 0) return 1;  // cpu: all
  int threads = 0, alike = 0;
  for (int i = 0; i < host.processors; ++i) {
    const auto& other = c.processors[host.first_processor + i];
    if (other.unit.processor() == platform::processor::cpu) {
      threads += other.unit.count;
      ++alike;
    }
  }
  const auto part = [](int some, int all) { return all > 0 ? std::min(1.0, static_cast<double>(some) / all) : 1.0; };
  if (rank.cores.empty() || about.cores.empty() || alike == 1) return part(rank.unit.count, threads);
  int some = 0;
  for (int core : rank.cores) some += std::find(about.cores.begin(), about.cores.end(), core) != about.cores.end();
  return part(some, static_cast<int>(about.cores.size()));
}

/// Places the ranks of a mapping: on the host that on<…> names, else on the hosts in turn, starting again after the last.
/// Writes one entry for each device.
constexpr void place_ranks(std::span<const platform::device> devices, const platform::cluster_view& c, placed_rank* out) {
  std::size_t next = 0;
  for (const auto& d : devices) {
    *out = {d.unit, d.cores, d.host.empty() ? static_cast<int>(next++ % c.hosts.size()) : -1};
    for (std::size_t h = 0; h < c.hosts.size(); ++h)
      if (c.hosts[h].name == d.host) out->on_host = static_cast<int>(h);
    ++out;
  }
}

/// The first rank on no host, or with a unit that its host lacks; -1 if there is none.
constexpr int misplaced_rank(std::span<const placed_rank> ranks, const platform::cluster_view& c) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].on_host < 0) return static_cast<int>(r);
    const auto& host = c.hosts[ranks[r].on_host];
    double share = 0;
    for (int k = 0; k < host.processors; ++k) share += share_of(c, host.first_processor + k, ranks[r]);
    if (share <= 0) return static_cast<int>(r);
  }
  return -1;
}

/// Time in s of layer `layer` of the network on a rank: by all processors of its host that it uses, with its part of each.
constexpr double seconds_on(const setting& s, const placed_rank& rank, int layer) {
  const auto& host = s.cluster.hosts[rank.on_host];
  double speed = 0;
  for (int k = 0; k < host.processors; ++k) {
    const auto at = static_cast<std::size_t>(host.first_processor + k);
    const double share = share_of(s.cluster, at, rank), t = s.seconds[at][layer];
    if (share > 0 && t > 0) speed += share / t;
  }
  return speed > 0 ? 1 / speed : 0;
}

/// The problem whose devices are the ranks of a plan, so that its stages can be predicted. A unit with some of a processor's
/// cores has that share of its rates, and one that spans several processors has the sum of theirs.
constexpr problem problem_of(const setting& s, const schedule::plan_view& plan, std::span<const placed_rank> ranks) {
  problem p;
  schedule::fusion_groups groups;
  groups.of_layer = meta::array<int>(s.net.size(), -1);
  for (const auto& g : plan.groups) {
    for (int l : g.layers())
      if (l >= 0) groups.of_layer[l] = groups.list.size();
    groups.list.push_back(g);
  }
  const cut_unit_list cut_units = cut_units_of(s.net, groups);
  set_network(p, s.net, cut_units);
  set_hosts(p, s.cluster);
  meta::array<double> seconds(s.net.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const auto& host = s.cluster.hosts[ranks[r].on_host];
    device d{.host = ranks[r].on_host, .processor = static_cast<int>(r), .kind = static_cast<int>(r)};
    std::size_t with = 0;
    for (int l = 0; l < s.net.size(); ++l) seconds[l] = seconds_on(s, ranks[r], l);
    for (int k = 0; k < host.processors; ++k) {
      const auto& about = s.cluster.processors[host.first_processor + k];
      const double share = share_of(s.cluster, host.first_processor + k, ranks[r]);
      if (share > 0) with = host.first_processor + k;
      d.busy_watts += share * about.busy_watts;
      d.idle_watts += share * about.idle_watts;
    }
    costs c;
    set_memory(c, s.net, cut_units, groups, s.algorithms[with]);
    set_seconds(c, cut_units, groups, seconds);
    set_messages(c, p, s.cluster.processors[with]);
    p.kinds.push_back(c);
    p.devices.push_back(d);
  }
  complete(p);
  return p;
}

/// The stages of a plan: consecutive cut units on the same rank.
constexpr meta::array<stage> stages_of(const problem& p, const schedule::plan_view& plan) {
  meta::array<int> owner(p.cut_units);
  for (int l = 0; l < p.cut_unit_of.size(); ++l) owner[p.cut_unit_of[l]] = plan.owner[l];
  meta::array<stage> out;
  for (int k = 0; k < p.cut_units; ++k) {
    if (out.empty() || out[out.size() - 1].device != owner[k]) out.push_back({owner[k], k, k});
    out[out.size() - 1].last = k + 1;
  }
  return out;
}

/// Which rank computes what: devices by rank, in the order of their first stages, and the rank of each layer.
struct stage_ranks {
  meta::array<int> devices, owner;
};
constexpr stage_ranks assign(const problem& p, const meta::array<stage>& stages) {
  stage_ranks out;
  meta::array<int> of_cut_unit(p.cut_units);
  for (const auto& s : stages) {
    int rank = 0;
    while (rank < out.devices.size() && out.devices[rank] != s.device) ++rank;
    if (rank == out.devices.size()) out.devices.push_back(s.device);
    for (int k = s.first; k < s.last; ++k) of_cut_unit[k] = rank;
  }
  for (const int cut_unit : p.cut_unit_of) out.owner.push_back(of_cut_unit[cut_unit]);
  return out;
}

}  // namespace dice::cost
