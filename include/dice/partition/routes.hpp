// The orders in which devices may follow one another: a graph whose paths are all sequences of different devices, or one
// sequence for each class of equal cost. Velasco-Montero et al. (2023), Eq. (2), count (devices)^(stages) orders: there a
// device may come again, which is left to repeats.hpp.
#pragma once

#include "dice/partition/problem.hpp"

#include <cstdint>

namespace dice::partition {

/// A node means "this device computes the next stage, after these devices" or, without a device, "one of the devices from
/// here on does"; node 0 is the start. Edges lead to later nodes.
struct routes {
  struct node {
    int device = -1;  ///< one of its kind
    int first_edge = 0, last_edge = 0;
    int depth = 0;  ///< in a search in any order: devices so far, including this one
  };
  struct edge {
    int to = 0;
    int link = 0;            ///< from the previous device, index into `links`
    int origin = 0;          ///< bits of the host's processors in use before, which identify the host
    bool same_host = false;  ///< as the previous device's
  };
  meta::array<node> nodes;
  meta::array<edge> edges;
  meta::array<platform::link> links;  ///< without duplicates
  bool complete = true;               ///< false: there were more than `most` nodes

  constexpr int number_of(const platform::link& l) {
    for (int i = 0; i < links.size(); ++i)
      if (links[i] == l) return i;
    links.push_back(l);
    return links.size() - 1;
  }
};

/// Devices in the order of problem::devices; any may be skipped.
constexpr routes routes_in_order(const problem& p) {
  routes out;
  const int n = p.devices.size();
  bool alike = true;
  for (int a = 0; a < n; ++a)
    for (int b = a + 1; b < n; ++b) alike = alike && p.link(a, b) == p.link(0, n - 1);
  if (n > 1 && alike) out.links.push_back(p.link(0, n - 1));
  if (alike) {  // node 2d leads to device d, which is node 2d + 1, and past it
    for (int d = 0; d < n; ++d) {
      const bool last = d + 1 == n;
      for (int v = 0; v < 2; ++v) {
        routes::node node{v == 0 ? -1 : d, out.edges.size(), 0, d};
        if (v == 0) out.edges.push_back({2 * d + 1, 0, 0, false});
        if (!last) out.edges.push_back({2 * d + 2, 0, 0, false});
        node.last_edge = out.edges.size();
        out.nodes.push_back(node);
      }
    }
    return out;
  }
  for (int v = 0; v <= n; ++v) {
    routes::node node{v - 1, out.edges.size(), 0, v};
    for (int d = v; d < n; ++d) out.edges.push_back({d + 1, v == 0 ? 0 : out.number_of(p.link(v - 1, d)), 0, false});
    node.last_edge = out.edges.size();
    out.nodes.push_back(node);
  }
  return out;
}

namespace detail {

/// Where the last stage was, and a key for how many hosts of each kind use which of their processors.
struct usage {
  int kind = -1, subset = 0, processor = -1;
  std::int64_t key = 0;
};

/// Kinds of hosts, densely numbered, and the devices of the first host of each.
struct host_kinds {
  static constexpr int max_processors = 4;
  static constexpr int subsets = 1 << max_processors;
  meta::array<int> hosts;             ///< how many of each kind
  meta::array<int> first;             ///< one of each kind
  meta::array<int> second;            ///< another one, or -1
  meta::array<int> of_host;           ///< by host
  meta::array<int> devices;           ///< kind · max_processors + number on the host; -1: none
  meta::array<std::int64_t> weights;  ///< kind · subsets + subset: what one more such host adds to a usage's key
  bool fits = true;                   ///< no host has more than max_processors, and keys do not overflow
};

constexpr host_kinds kinds_of(const problem& p) {
  host_kinds out;
  out.of_host = meta::array<int>(p.hosts, -1);
  for (int h = 0; h < p.hosts; ++h) {
    const int like = p.host_kind[h];
    if (like == h) {
      out.of_host[h] = out.hosts.size();
      out.hosts.push_back(1);
      out.first.push_back(h);
      out.second.push_back(-1);
    } else {
      const int k = out.of_host[h] = out.of_host[like];
      ++out.hosts[k];
      if (out.second[k] < 0) out.second[k] = h;
    }
  }
  out.devices = meta::array<int>(out.hosts.size() * host_kinds::max_processors, -1);
  for (int k = 0; k < out.hosts.size(); ++k) {
    int at = 0;
    for (int d = 0; d < p.devices.size(); ++d) {
      if (p.devices[d].host != out.first[k]) continue;
      if (at == host_kinds::max_processors) out.fits = false;
      else out.devices[k * host_kinds::max_processors + at++] = d;
    }
  }
  // Mixed radix, above the digits of the last stage.
  std::int64_t weight = out.hosts.size() * host_kinds::subsets * host_kinds::max_processors;
  out.weights = meta::array<std::int64_t>(out.hosts.size() * host_kinds::subsets);
  for (int k = 0; k < out.hosts.size(); ++k) {
    int processors = 0;
    while (processors < host_kinds::max_processors && out.devices[k * host_kinds::max_processors + processors] >= 0)
      ++processors;
    for (int subset = 1; subset < 1 << processors; ++subset) {
      out.weights[k * host_kinds::subsets + subset] = weight;
      out.fits = out.fits && weight < std::int64_t{1} << 48;
      if (out.fits) weight *= out.hosts[k] + 1;
    }
  }
  return out;
}

}  // namespace detail

/// Devices in any order. Hosts of one kind are interchangeable, so there is a node for each combination of numbers of hosts
/// in use by kind, times kinds; gives up beyond `most` nodes. Up to `max_devices` devices follow one another.
constexpr routes routes_in_any_order(const problem& p, int most, int max_devices) {
  using kinds = detail::host_kinds;
  const kinds k = detail::kinds_of(p);
  routes out;
  if (!k.fits) {
    out.complete = false;
    return out;
  }
  meta::array<detail::usage> states(1);
  meta::array<std::int64_t> keys(1);  // of a state as a whole
  meta::array<int> counts(k.hosts.size() * kinds::subsets);
  out.nodes.push_back({});
  for (int v = 0, level = 1; v < states.size(); ++v) {  // `level`: the first state with one device more than v
    if (v > 0 && out.nodes[v].depth != out.nodes[v - 1].depth) level = states.size();
    out.nodes[v].first_edge = out.edges.size();
    const auto add = [&](const detail::usage& from, int kind, int subset, int processor, bool same_host) {
      const int device = k.devices[kind * kinds::max_processors + processor];
      int by = 0;
      if (from.kind >= 0) {
        const int a = k.first[from.kind];
        const int b = same_host ? a : from.kind == kind ? k.second[kind] : k.first[kind];
        by = out.number_of(p.links[a * p.hosts + b]);
      }
      const int before = kind * kinds::subsets + subset, after = before | 1 << processor;
      const auto used = from.key + k.weights[after] - k.weights[before];
      const std::int64_t key = used + (after * kinds::max_processors + processor);
      int to = level;
      for (const auto* known = keys.data(); to < keys.size() && known[to] != key;) ++to;
      if (to == keys.size()) {
        if (to >= most) return static_cast<void>(out.complete = false);
        keys.push_back(key);
        states.push_back({kind, subset | 1 << processor, processor, used});
        out.nodes.push_back({device, 0, 0, out.nodes[v].depth + 1});
      }
      out.edges.push_back({to, by, subset, same_host});
    };
    const detail::usage from = states[v];
    for (int kind = 0; kind < k.hosts.size(); ++kind) {
      int* count = counts.data() + kind * kinds::subsets;
      count[0] = k.hosts[kind];
      for (int subset = 1; subset < kinds::subsets; ++subset) {
        const auto weight = k.weights[kind * kinds::subsets + subset];
        count[subset] = weight ? static_cast<int>(from.key / weight % (k.hosts[kind] + 1)) : 0;
        count[0] -= count[subset];
      }
    }
    const bool more = out.nodes[v].depth < max_devices;
    for (int kind = 0; kind < k.hosts.size() && out.complete && more; ++kind)
      for (int subset = 0; subset < kinds::subsets; ++subset) {
        int others = counts[kind * kinds::subsets + subset];
        const bool last = kind == from.kind && subset == from.subset;
        if (others == 0) continue;
        others -= last;
        for (int processor = 0; processor < kinds::max_processors; ++processor) {
          if (subset >> processor & 1 || k.devices[kind * kinds::max_processors + processor] < 0) continue;
          if (last) add(from, kind, subset, processor, true);
          if (others > 0) add(from, kind, subset, processor, false);
        }
      }
    out.nodes[v].last_edge = out.edges.size();
  }
  return out;
}

/// The paths of r with up to `max_devices` devices: its nodes, once for each number of devices that may lead to them.
constexpr routes shortened(const routes& r, int max_devices) {
  const int width = max_devices + 1;
  meta::array<int> number(r.nodes.size() * width, -1);  // by node and devices; -1: not reached
  const auto beyond = [&](int e, int devices) {
    const int to = r.edges[e].to, then = devices + (r.nodes[to].device >= 0);
    return then < width ? to * width + then : -1;
  };
  routes out;
  out.links = r.links;
  number[0] = 0;
  for (int at = 0; at < number.size(); ++at) {
    if (number[at] < 0) continue;
    number[at] = out.nodes.size();
    const auto& node = r.nodes[at / width];
    out.nodes.push_back({node.device, node.first_edge, node.last_edge, at % width});
    for (int e = node.first_edge; e < node.last_edge; ++e)
      if (const int to = beyond(e, at % width); to >= 0) number[to] = 0;
  }
  for (auto& node : out.nodes) {
    const int first = node.first_edge, last = node.last_edge;
    node.first_edge = out.edges.size();
    for (int e = first; e < last; ++e)
      if (const int to = beyond(e, node.depth); to >= 0) {
        out.edges.push_back(r.edges[e]);
        out.edges[out.edges.size() - 1].to = number[to];
      }
    node.last_edge = out.edges.size();
  }
  return out;
}

/// Incomplete beyond `most` nodes.
constexpr routes routes_of(const problem& p, bool in_order, int most, int max_devices) {
  if (!in_order) return routes_in_any_order(p, most, max_devices);
  if (max_devices >= p.devices.size()) return routes_in_order(p);
  return shortened(routes_in_order(p), max_devices);
}

/// The devices on the path along these edges; of hosts that are alike, the first ones.
constexpr meta::array<int> devices_along(const problem& p, const routes& r, const meta::array<int>& path, bool in_order) {
  meta::array<int> out;
  if (in_order) {
    for (int e : path)
      if (const int d = r.nodes[r.edges[e].to].device; d >= 0) out.push_back(d);
    return out;
  }
  using kinds = detail::host_kinds;
  const kinds k = detail::kinds_of(p);
  meta::array<int> used(p.hosts);  // processors in use, as bits
  int host = -1;
  for (int e : path) {
    const auto& edge = r.edges[e];
    const int like = r.nodes[edge.to].device;
    const int kind = k.of_host[p.devices[like].host];
    if (!edge.same_host) {
      const int last = host;
      host = 0;
      while (k.of_host[host] != kind || used[host] != edge.origin || host == last) ++host;
    }
    // The device with the same number on `host` as `like` has on its own host.
    int number = 0;
    for (int d = 0; d < like; ++d) number += p.devices[d].host == p.devices[like].host;
    used[host] |= 1 << number;
    int d = 0;
    for (int at = 0;; ++d)
      if (p.devices[d].host == host && at++ == number) break;
    out.push_back(d);
  }
  return out;
}

/// The solution whose stages follow the path along these edges and begin at cut units `starts`.
constexpr solution along(const problem& p, const routes& r, bool in_order, const meta::array<int>& path,
                         const meta::array<int>& starts) {
  solution out;
  const auto devices = devices_along(p, r, path, in_order);
  for (int k = 0; k < path.size(); ++k)
    out.stages.push_back({devices[k], starts[k], k + 1 < path.size() ? starts[k + 1] : p.cut_units});
  out.expected = predict(p, out.stages);
  return out;
}

}  // namespace dice::partition
