// A network on a cluster as the searches see it: a sequence of cut units, devices, and what each cut unit costs on each
// device.
#pragma once

#include "dice/meta/array.hpp"
#include "dice/platform/connection.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace dice::cost {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// The costs of the cut units on a kind of processor. A stage of cut units [a, b) takes seconds[b] - seconds[a].
struct costs {
  meta::array<double> seconds;             ///< s for all cut units before each one, and for all cut units
  meta::array<std::int64_t> weights;       ///< bytes, summed in the same way
  meta::array<std::int64_t> live;          ///< by cut unit: bytes of live tensors and working memory while it is computed
  meta::array<double> sending, receiving;  ///< its time in s for what crosses the cut before each cut unit, over the network
  std::int64_t most = 0;                   ///< upper bound of the bytes of any stage on it
  double share = 0;                        ///< upper bound, in s, of the part of problem::rest that it can do in 1 s
};

/// A processor or rank that may be given stages.
struct device {
  int host = 0;
  int processor = 0;  ///< index in the cluster; for a rank: its number
  int kind = 0;       ///< index into problem::kinds
  double busy_watts = 0, idle_watts = 0;
  std::int64_t memory_limit = std::numeric_limits<std::int64_t>::max();  ///< bytes
};

/// Cut units are groups of layers that one kernel computes (schedule::fuse), or single layers, in topological order; a
/// network is cut only between them. A tensor is charged once to each cut that it crosses, on the connection between the
/// devices on both sides of the cut, as if it were relayed to its last reader.
struct problem {
  int cut_units = 0;
  meta::array<int> cut_unit_of;        ///< by layer
  meta::array<std::int64_t> crossing;  ///< bytes of the tensors that cross the cut before each cut unit
  meta::array<int> messages;           ///< number of these tensors
  meta::array<costs> kinds;
  meta::array<device> devices;
  int hosts = 0;
  meta::array<platform::link> links;  ///< host a to host b at a · hosts + b
  meta::array<int> host_kind;         ///< by host: the first host with the same board and connections
  meta::array<double> rest;           ///< s for the cut units from each one on, each on its fastest device
  bool messages_cost_time = false;    ///< whether messages cost time on any kind
  int slots = 3;                      ///< copies of a tensor that is sent or received: frames in a rank at once

  constexpr double time(int d, int first, int last) const {
    const auto& s = kinds[devices[d].kind].seconds;
    return s[last] - s[first];
  }
  constexpr const platform::link& link(int a, int b) const { return links[devices[a].host * hosts + devices[b].host]; }
  /// Time in s that `by` takes to transfer the tensors that cross the cut before `cut_unit`. Velasco-Montero et al. (2023,
  /// Section III-C) have k · bytes, for one board; over a network, each message has a latency, too.
  constexpr double transfer(const platform::link& by, int cut_unit) const {
    return by.time(crossing[cut_unit], messages[cut_unit]);
  }
  /// Time in s that sending, or receiving, them costs device d.
  constexpr double sending(int d, const platform::link& by, int cut_unit) const {
    return by.within_host ? 0 : kinds[devices[d].kind].sending[cut_unit];
  }
  constexpr double receiving(int d, const platform::link& by, int cut_unit) const {
    return by.within_host ? 0 : kinds[devices[d].kind].receiving[cut_unit];
  }
};

/// Derives costs::most and share, problem::rest and messages_cost_time from the other members of p.
constexpr void complete(problem& p) {
  meta::array<double> least(p.cut_units, infinity);
  for (const auto& d : p.devices)
    for (int k = 0; k < p.cut_units; ++k)
      least[k] = std::min(least[k], p.kinds[d.kind].seconds[k + 1] - p.kinds[d.kind].seconds[k]);
  p.rest = meta::array<double>(p.cut_units + 1);
  for (int k = p.cut_units - 1; k >= 0; --k) p.rest[k] = p.rest[k + 1] + least[k];
  std::int64_t crossing = 0;
  for (const auto bytes : p.crossing) crossing = std::max(crossing, bytes);
  p.messages_cost_time = false;
  for (auto& c : p.kinds) {
    for (auto* of : {&c.sending, &c.receiving}) {
      if (of->empty()) *of = meta::array<double>(p.cut_units + 1);
      for (const double t : *of) p.messages_cost_time = p.messages_cost_time || t > 0;
    }
    c.most = c.weights[p.cut_units] + 2 * p.slots * crossing;
    c.share = 0;
    std::int64_t live = 0;
    for (int k = 0; k < p.cut_units; ++k) {
      const double t = c.seconds[k + 1] - c.seconds[k];
      if (t > 0) c.share = std::max(c.share, std::min(1.0, least[k] / t));
      live = std::max(live, c.live[k]);
    }
    c.most += live;
  }
}

/// Lower bound of the period in s: all devices share the work, each cut unit taking the time of its fastest device.
constexpr double min_period(const problem& p) {
  double share = 0;
  for (const auto& d : p.devices) share += p.kinds[d.kind].share;
  return share > 0 ? p.rest[0] / share * (1 - 1e-9) : 0;
}

/// Cut units [first, last) on a device.
struct stage {
  int device = -1, first = 0, last = 0;
};

/// The prediction for a mapping.
struct prediction {
  double throughput = 0;    ///< frames/s, with enough frames in flight
  double latency = 0;       ///< s from a frame's entry to its last output, with no other frame in flight
  double energy = 0;        ///< J per frame, for all devices of the mapping at that throughput
  std::int64_t memory = 0;  ///< bytes of the device that needs most
  double period = 0;        ///< 1 / throughput, in s
};

/// A solution of the search: stages in order; empty if there is no mapping within the limits.
struct solution {
  meta::array<stage> stages;
  prediction expected{};
  constexpr bool empty() const { return stages.empty(); }
};

/// Bytes that `device` needs for its stages: weights, the largest sum of live tensors, and all copies of what it sends and
/// receives. Replaces M_i of AutoDiCE (Guo et al. 2023, Section IV-A 2), whose M^inbuffs has one copy of what is received,
/// and none of what is sent besides the layer's output.
constexpr std::int64_t memory_of(const problem& p, const meta::array<stage>& stages, int device) {
  std::int64_t weights = 0, live = 0, channels = 0;
  for (const auto& s : stages) {
    if (s.device != device) continue;
    const auto& c = p.kinds[p.devices[device].kind];
    weights += c.weights[s.last] - c.weights[s.first];
    for (int k = s.first; k < s.last; ++k) live = std::max(live, c.live[k]);
    channels += p.crossing[s.first] + p.crossing[s.last];
  }
  return weights + live + p.slots * channels;
}

/// Time in s that messages cost the device of stage k.
constexpr double message_time(const problem& p, const meta::array<stage>& stages, int k) {
  const auto& s = stages[k];
  double out = 0;
  if (k > 0) out += p.receiving(s.device, p.link(stages[k - 1].device, s.device), s.first);
  if (k + 1 < stages.size()) out += p.sending(s.device, p.link(s.device, stages[k + 1].device), s.last);
  return out;
}

/// Completes a prediction of stages whose latency is known, and of whose period the time of the busiest link: `busy` is the
/// time in s that each device computes and handles messages.
constexpr void count_devices(prediction& out, const problem& p, const meta::array<stage>& stages,
                             const meta::array<double>& busy) {
  for (const double t : busy) out.period = std::max(out.period, t);
  meta::array<char> used(p.devices.size());
  for (const auto& s : stages) used[s.device] = 1;
  for (int d = 0; d < p.devices.size(); ++d) {
    if (!used[d]) continue;
    const auto& about = p.devices[d];
    out.energy += about.busy_watts * busy[d] + about.idle_watts * (out.period - busy[d]);
    out.memory = std::max(out.memory, memory_of(p, stages, d));
  }
  out.throughput = out.period > 0 ? 1 / out.period : infinity;
}

/// The prediction for stages in order, adjacent ones on different devices. With t(d) the time of all stages of device d,
/// o(d) the time that sending and receiving costs d, and x(c) the time to transfer the tensors that cross cut c:
///   period  = max(max t(d) + o(d), max x(c))     the slowest stage or transfer
///   latency = Σ t(d) + Σ x(c)                    x is measured end to end and includes o
///   energy  = Σ (busy(d) · (t(d) + o(d)) + idle(d) · (period - t(d) - o(d)))
/// The papers' equations without x as a stage of its own: period as Velasco-Montero et al. (2023), Eq. (3) and (8), and
/// AutoDiCE (Guo et al. 2023), Section IV-A 1; latency as Eq. (5) and (9) of the former; energy as its Eq. (4),
/// with idle power and messages. docs/partitioning.md compares them.
constexpr prediction predict(const problem& p, const meta::array<stage>& stages) {
  prediction out;
  meta::array<double> busy(p.devices.size());
  for (int k = 0; k < stages.size(); ++k) {
    const auto& s = stages[k];
    if (k > 0) {
      const int before = stages[k - 1].device;
      const auto& link = p.link(before, s.device);
      const double x = p.transfer(link, s.first);
      out.latency += x;
      out.period = std::max(out.period, x);
      busy[before] += p.sending(before, link, s.first);
      busy[s.device] += p.receiving(s.device, link, s.first);
    }
    const double t = p.time(s.device, s.first, s.last);
    busy[s.device] += t;
    out.latency += t;
  }
  count_devices(out, p, stages, busy);
  return out;
}

}  // namespace dice::cost
