// The search for stages none of which takes longer, or holds more, than the least possible: each device is filled as far as
// a cap allows, and the cap is lowered until nothing fits: the probes and the exact bisection of Pınar and Aykanat, "Fast
// optimal load balancing algorithms for 1D partitioning" (2004), here over all orders of unequal devices, with transfers and
// memory.
//
// A stage that begins later can end wherever one that begins earlier can, so that the latest beginning of each node is
// enough: unless the earlier one ends before the later one begins. Then the later one's device may be left out, which is as
// good where all connections are alike, no memory is short, and messages take no time of devices. Elsewhere a quick probe
// tries those beginnings only that leave most time, and a whole one all of them, each up to the next that is no worse.
#pragma once

#include "dice/partition/goal.hpp"
#include "dice/partition/problem.hpp"
#include "dice/partition/routes.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace dice::partition {

/// What each stage and transfer has to keep to.
struct caps {
  double period = infinity;                                        ///< s
  bool less_than = false;                                          ///< whether `period` itself is too long
  std::int64_t memory = std::numeric_limits<std::int64_t>::max();  ///< bytes of each device, whose own limit counts, too

  constexpr bool holds(double seconds) const { return less_than ? seconds < period : seconds <= period; }
};

namespace detail {

/// Times of all transfers, by link and cut.
constexpr meta::array<double> transfers_of(const problem& p, const routes& r) {
  meta::array<double> out;
  out.reserve(r.links.size() * (p.pieces + 1));
  for (const auto& l : r.links)
    for (int k = 0; k <= p.pieces; ++k) out.push_back(p.transfer(l, k));
  return out;
}

/// What the device after edge e takes to receive what crosses the cut before piece `start`, in s.
constexpr double received(const problem& p, const routes& r, int e, int start) {
  const int device = r.nodes[r.edges[e].to].device;
  return p.handles && device >= 0 && start > 0 ? p.receiving(device, r.links[r.edges[e].link], start) : 0;
}

/// Probes of one problem: is there a mapping within caps? Arrays are read by pointers, for compilers' sake.
class prober {
 public:
  constexpr prober(const problem& p, const routes& r, progress tell)
      : p_(p), r_(r), tell_(tell), transfers_(transfers_of(p, r)), live_(p.pieces + 1) {}

  /// Whether the quick probe finds what there is: every device sends to all others alike, and memory is never short.
  constexpr bool quick_is_whole(const caps& c) const {
    if (p_.handles) return false;
    for (int d = 0; d < p_.devices.size(); ++d)
      if (limited(d, c)) return false;
    return r_.links.size() <= 1;
  }

  /// Finds a mapping, in path() and starts(); may miss those that are not the longest stages at each node.
  constexpr bool quick(const caps& c) {
    const int n = r_.nodes.size();
    ++probes_, told(0);
    marks_ = meta::array<mark>(n);
    marks_[0] = {0, -1, -1, 0, 0};
    int best = -1, fewest = n;
    for (int v = 0; v < n; ++v) {
      const mark here = marks_[v];
      if (here.start < 0) continue;
      const auto& node = r_.nodes[v];
      stretch s{};
      if (node.device >= 0) {
        s = reach(node.device, here.start, here.busy, c);
        if (s.beyond > p_.pieces && here.devices < fewest && fits(s, p_.pieces)) best = v, fewest = here.devices;
      }
      int link = -1, end = 0;
      for (int e = node.first_edge; e < node.last_edge; ++e) {
        const auto& edge = r_.edges[e];
        if (node.device >= 0 && p_.handles) {
          take_best(v, e, s, c);
          continue;
        }
        if (node.device < 0) end = here.start;
        else if (edge.link != link) {
          link = edge.link;
          const double* x = transfers_.data() + link * (p_.pieces + 1);
          for (end = std::min(s.beyond, p_.pieces) - 1; end > here.start; --end)
            if (c.holds(x[end]) && fits(s, end)) break;
        }
        if (node.device >= 0 && end <= here.start) continue;
        auto& to = marks_[edge.to];
        const int devices = here.devices + (r_.nodes[edge.to].device >= 0);
        if (end > to.start || (end == to.start && devices < to.devices)) to = {end, e, v, devices, received(p_, r_, e, end)};
      }
    }
    if (best >= 0) trace(best);
    return best >= 0;
  }

  /// The same, but misses none.
  constexpr bool whole(const caps& c) {
    const int n = r_.nodes.size(), width = p_.pieces + 1;
    ++probes_;
    marks_ = meta::array<mark>(n * width);
    marks_[0] = {0, -1, -1, 0, 0};
    const auto earliest = earliest_starts(c);
    if (earliest[0] > 0) return false;
    meta::array<int> cover(width);  // by start: a later one that can do all that it can, beyond itself; p_.pieces: none
    for (int v = 0; v < n; ++v) {
      told(static_cast<double>(v) / n);
      const auto& node = r_.nodes[v];
      int next = p_.pieces;
      for (int start = p_.pieces - 1; start >= 0; --start) {
        if (marks_[v * width + start].start < 0) continue;
        if (node.device < 0) {
          for (int e = node.first_edge; e < node.last_edge; ++e) put(e, start, v * width + start);
          continue;
        }
        const double busy = marks_[v * width + start].busy;
        const stretch s = reach(node.device, start, busy, c);
        int later = next;
        while (later < p_.pieces && !covers(v, later, start, c)) later = cover[later];
        next = start, cover[start] = later;
        const bool free = later == p_.pieces;
        if (free && s.beyond > p_.pieces && fits(s, p_.pieces)) {
          trace(v * width + start);
          return true;
        }
        const int last = std::min(free ? p_.pieces - 1 : later, s.beyond - 1);
        for (int e = node.first_edge; e < node.last_edge; ++e) {
          const auto& edge = r_.edges[e];
          const double* x = transfers_.data() + edge.link * width;
          for (int end = last; end > start && end >= earliest[edge.to]; --end) {
            if (c.holds(x[end]) && fits(s, end) && sends(s, e, end, c)) put(e, end, v * width + start);
          }
        }
      }
    }
    return false;
  }

  /// The mapping found: edges, and the piece at which the stage after each begins.
  constexpr const meta::array<int>& path() const { return path_; }
  constexpr const meta::array<int>& starts() const { return starts_; }

 private:
  /// How a node is reached: the piece at which its stage begins, the edge, the mark before, the devices so far, and what its
  /// device takes to receive.
  struct mark {
    int start = -1, edge = -1, before = -1, devices = 0;
    double busy = 0;
  };
  /// What a device can do from a piece on: ends before `beyond`.
  struct stretch {
    int device = -1, first = 0, beyond = 0;
    double busy = 0;
    bool is_limited = false;
    std::int64_t limit = 0;
    const std::int64_t* weights = nullptr;
  };

  /// Nobody knows how many probes there will be: some 20.
  constexpr void told(double part_of_probe) const {
    const double done = probes_ - 1 + part_of_probe;
    tell_(done / (done + 10));
  }

  constexpr std::int64_t limit(int device, const caps& c) const {
    return std::min(p_.devices[device].memory_limit, c.memory);
  }
  constexpr bool limited(int device, const caps& c) const {
    return limit(device, c) < p_.kinds[p_.devices[device].kind].most;
  }

  constexpr stretch reach(int device, int first, double busy, const caps& c) {
    const auto& k = p_.kinds[p_.devices[device].kind];
    const double* seconds = k.seconds.data();
    stretch out{device, first, p_.pieces + 1, busy, limited(device, c), limit(device, c), k.weights.data()};
    for (int low = first; out.beyond - low > 1;) {
      const int middle = (low + out.beyond) / 2;
      if (c.holds(busy + (seconds[middle] - seconds[first]))) low = middle;
      else out.beyond = middle;
    }
    if (!out.is_limited) return out;
    live_[first] = 0;
    for (int end = first + 1; end < out.beyond; ++end) {
      live_[end] = std::max(live_[end - 1], k.live[end - 1]);
      if (out.weights[end] - out.weights[first] + live_[end] > out.limit) out.beyond = end;
    }
    return out;
  }
  constexpr bool fits(const stretch& s, int end) const {
    return !s.is_limited ||
           s.weights[end] - s.weights[s.first] + live_[end] + p_.slots * (p_.crossing[s.first] + p_.crossing[end]) <=
               s.limit;
  }
  /// Whether the device has time to send over edge e, too, what crosses the cut at which its stage ends.
  constexpr bool sends(const stretch& s, int e, int end, const caps& c) const {
    return !p_.handles ||
           c.holds(s.busy + p_.time(s.device, s.first, end) + p_.sending(s.device, r_.links[r_.edges[e].link], end));
  }
  /// Marks the node after edge e with the end of stage s that leaves its device most time, if that is more than so far.
  constexpr void take_best(int v, int e, const stretch& s, const caps& c) {
    const auto& edge = r_.edges[e];
    auto& to = marks_[edge.to];
    const int device = r_.nodes[edge.to].device, devices = marks_[v].devices + (device >= 0);
    const double* x = transfers_.data() + edge.link * (p_.pieces + 1);
    const double* done = p_.kinds[p_.devices[device >= 0 ? device : s.device].kind].seconds.data();
    for (int end = std::min(s.beyond, p_.pieces) - 1; end > s.first; --end) {
      const double had = to.start < 0 ? -infinity : done[to.start] - to.busy;
      if (done[end] < had) return;
      if (!c.holds(x[end]) || !fits(s, end) || !sends(s, e, end, c)) continue;
      const double busy = received(p_, r_, e, end), has = done[end] - busy;
      if (has > had || (has == had && (end > to.start || devices < to.devices))) to = {end, e, v, devices, busy};
    }
  }
  /// By node: no stage of it that begins at an earlier piece leaves little enough, without memory, transfers and messages.
  constexpr meta::array<int> earliest_starts(const caps& c) const {
    meta::array<int> out(r_.nodes.size());
    for (int v = r_.nodes.size() - 1; v >= 0; --v) {
      const auto& node = r_.nodes[v];
      int end = p_.pieces;
      for (int e = node.first_edge; e < node.last_edge; ++e) end = std::min(end, out[r_.edges[e].to]);
      out[v] = end;
      if (node.device < 0) continue;
      const double* seconds = p_.kinds[p_.devices[node.device].kind].seconds.data();
      for (int low = -1; out[v] - low > 1;) {
        const int middle = (low + out[v]) / 2;
        if (c.holds((seconds[end] - seconds[middle]) * (1 - 1e-12))) out[v] = middle;
        else low = middle;
      }
    }
    return out;
  }
  /// Whether the stage of node v that begins at a, later than b, can end wherever the one from b can, if that is after a.
  constexpr bool covers(int v, int a, int b, const caps& c) const {
    const int device = r_.nodes[v].device, width = p_.pieces + 1;
    const auto& weights = p_.kinds[p_.devices[device].kind].weights;
    return (!p_.handles || marks_[v * width + a].busy - marks_[v * width + b].busy <= p_.time(device, b, a)) &&
           (!limited(device, c) || p_.slots * p_.crossing[a] <= p_.slots * p_.crossing[b] + weights[a] - weights[b]);
  }

  constexpr void put(int e, int start, int before) {
    auto& to = marks_[r_.edges[e].to * (p_.pieces + 1) + start];
    const double busy = received(p_, r_, e, start);
    if (to.start < 0 || busy < to.busy) to = {start, e, before, 0, busy};
  }
  constexpr void trace(int at) {
    path_ = {}, starts_ = {};
    for (; marks_[at].before >= 0; at = marks_[at].before)
      if (const int e = marks_[at].edge; r_.nodes[r_.edges[e].to].device >= 0)
        path_.insert(0, e), starts_.insert(0, marks_[at].start);
  }

  const problem& p_;
  const routes& r_;
  progress tell_;
  int probes_ = 0;
  meta::array<double> transfers_;  ///< by link and cut
  meta::array<std::int64_t> live_;
  meta::array<mark> marks_;  ///< by node, or by node and start
  meta::array<int> path_, starts_;
};

}  // namespace detail

/// The search for bottlenecks of one problem.
class bottleneck_search {
 public:
  constexpr bottleneck_search(const problem& p, const routes& r, bool in_order, detail::progress tell = {})
      : p_(p), r_(r), in_order_(in_order), probe_(p, r, tell) {}

  /// Some stages within `c`, as few as the quick probe knows; none if there are none.
  constexpr solution feasible(const caps& c) {
    if (probe_.quick(c) || (!probe_.quick_is_whole(c) && probe_.whole(c))) return found();
    return {};
  }

  /// The stages whose slowest is fastest, within `c`.
  constexpr solution fastest(caps c) {
    solution best = feasible(c);
    if (best.empty()) return best;
    double infeasible = least_period(p_);
    for (c.less_than = true;;) {
      const double least = best.expected.period;
      // By halves, then from one possible period to the next, and at last by whole probes.
      c.period = least - infeasible > 1e-3 * least ? (least + infeasible) / 2 : least;
      if (probe_.quick(c)) best = found();
      else if (c.period < least) infeasible = c.period;
      else if (!probe_.quick_is_whole(c) && probe_.whole(c)) best = found();
      else return best;
    }
  }

  /// The stages that need the least memory in the device that needs most, within `c`.
  constexpr solution smallest(caps c) {
    solution best = feasible(c);
    if (best.empty()) return best;
    for (std::int64_t infeasible = -1; best.expected.memory - infeasible > 1;) {
      c.memory = infeasible + (best.expected.memory - infeasible) / 2;
      if (probe_.quick(c)) best = found();
      else infeasible = c.memory;
    }
    for (;;) {
      c.memory = best.expected.memory - 1;
      if (!probe_.whole(c)) return best;
      best = found();
    }
  }

 private:
  constexpr solution found() const { return along(p_, r_, in_order_, probe_.path(), probe_.starts()); }

  const problem& p_;
  const routes& r_;
  bool in_order_;
  detail::prober probe_;
};

}  // namespace dice::partition
