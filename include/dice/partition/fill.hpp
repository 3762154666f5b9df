// The search for the stages whose longest time, or largest memory, is least: each device is filled as far as a cap allows,
// and the cap is lowered until nothing fits. These are the probes and the exact bisection of Pınar and Aykanat, "Fast
// optimal load balancing algorithms for 1D partitioning" (2004), here over all orders of unequal devices, with transfers
// and memory. They replace the recurrence of Mukherjee and Dey (2022), Eq. (1), for which devices have a fixed order, each
// computes something, and a transfer occupies the device that sends; and Algorithm 1 of Velasco-Montero et al. (2023),
// which tries all cuts of two stages (Eq. (1)).
//
// A stage that begins later can end wherever one that begins earlier can, so it is enough to know the latest start at each
// node, unless the earlier stage ends before the later one begins. Then the later stage's device can be skipped, which is as
// good if all connections are alike, memory is never short and messages cost devices no time. Otherwise a quick probe tries
// only the starts that leave the most time, and a whole probe tries all of them, each up to the next start that is not
// worse.
#pragma once

#include "dice/partition/goal.hpp"
#include "dice/partition/problem.hpp"
#include "dice/partition/routes.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace dice::partition {

/// Limits of each stage and transfer.
struct caps {
  double period = infinity;                                        ///< s
  bool less_than = false;                                          ///< whether `period` itself is too long
  std::int64_t memory = std::numeric_limits<std::int64_t>::max();  ///< bytes of each device, besides its own limit

  constexpr bool holds(double seconds) const { return less_than ? seconds < period : seconds <= period; }
};

namespace detail {

/// Times of all transfers, by link and cut.
constexpr meta::array<double> transfers_of(const problem& p, const routes& r) {
  meta::array<double> out;
  out.reserve(r.links.size() * (p.cut_units + 1));
  for (const auto& l : r.links)
    for (int k = 0; k <= p.cut_units; ++k) out.push_back(p.transfer(l, k));
  return out;
}

/// Time in s that the device after edge e needs to receive what crosses the cut before cut unit `start`.
constexpr double received(const problem& p, const routes& r, int e, int start) {
  const int device = r.nodes[r.edges[e].to].device;
  return p.messages_cost_time && device >= 0 && start > 0 ? p.receiving(device, r.links[r.edges[e].link], start) : 0;
}

/// Probes of one problem: is there a mapping within caps? Arrays are read through pointers, which costs compilers less.
class prober {
 public:
  constexpr prober(const problem& p, const routes& r, progress tell)
      : p_(p), r_(r), tell_(tell), transfers_(transfers_of(p, r)), live_(p.cut_units + 1) {}

  /// Whether the quick probe misses nothing: all connections are alike, memory is never short and messages cost no time.
  constexpr bool quick_is_whole(const caps& c) const {
    if (p_.messages_cost_time) return false;
    for (int d = 0; d < p_.devices.size(); ++d)
      if (limited(d, c)) return false;
    return r_.links.size() <= 1;
  }

  /// Finds a mapping, given by path() and starts(); may miss mappings without the longest stage at each node.
  constexpr bool quick(const caps& c) {
    const int n = r_.nodes.size();
    ++probes_;
    report_progress(0);
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
        if (s.beyond > p_.cut_units && here.devices < fewest && fits(s, p_.cut_units)) {
          best = v;
          fewest = here.devices;
        }
      }
      int link = -1, end = 0;
      for (int e = node.first_edge; e < node.last_edge; ++e) {
        const auto& edge = r_.edges[e];
        if (node.device >= 0 && p_.messages_cost_time) {
          take_best(v, e, s, c);
          continue;
        }
        if (node.device < 0) end = here.start;
        else if (edge.link != link) {
          link = edge.link;
          const double* x = transfers_.data() + link * (p_.cut_units + 1);
          for (end = std::min(s.beyond, p_.cut_units) - 1; end > here.start; --end)
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
    const int n = r_.nodes.size(), width = p_.cut_units + 1;
    ++probes_;
    marks_ = meta::array<mark>(n * width);
    marks_[0] = {0, -1, -1, 0, 0};
    const auto earliest = earliest_starts(c);
    if (earliest[0] > 0) return false;
    meta::array<int> cover(width);  // by start: a later one that covers it, see covers(); p_.cut_units: none
    for (int v = 0; v < n; ++v) {
      report_progress(static_cast<double>(v) / n);
      const auto& node = r_.nodes[v];
      int next = p_.cut_units;
      for (int start = p_.cut_units - 1; start >= 0; --start) {
        if (marks_[v * width + start].start < 0) continue;
        if (node.device < 0) {
          for (int e = node.first_edge; e < node.last_edge; ++e) put(e, start, v * width + start);
          continue;
        }
        const double busy = marks_[v * width + start].busy;
        const stretch s = reach(node.device, start, busy, c);
        int later = next;
        while (later < p_.cut_units && !covers(v, later, start, c)) later = cover[later];
        next = start;
        cover[start] = later;
        const bool free = later == p_.cut_units;
        if (free && s.beyond > p_.cut_units && fits(s, p_.cut_units)) {
          trace(v * width + start);
          return true;
        }
        const int last = std::min(free ? p_.cut_units - 1 : later, s.beyond - 1);
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

  /// The mapping found: edges, and the first cut unit of the stage after each.
  constexpr const meta::array<int>& path() const { return path_; }
  constexpr const meta::array<int>& starts() const { return starts_; }

 private:
  /// How a node is reached: the first cut unit of its stage, the edge, the previous mark, the devices so far, and the time
  /// in s that its device spends on receiving.
  struct mark {
    int start = -1, edge = -1, before = -1, devices = 0;
    double busy = 0;
  };
  /// What a device can compute from cut unit `first` on: stages that end before `beyond`.
  struct stretch {
    int device = -1, first = 0, beyond = 0;
    double busy = 0;
    bool is_limited = false;
    std::int64_t limit = 0;
    const std::int64_t* weights = nullptr;
  };

  /// The number of probes is not known in advance: about 20.
  constexpr void report_progress(double part_of_probe) const {
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
    stretch out{device, first, p_.cut_units + 1, busy, limited(device, c), limit(device, c), k.weights.data()};
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
  /// Whether the device also has time to send over edge e what crosses the cut at the end of its stage.
  constexpr bool sends(const stretch& s, int e, int end, const caps& c) const {
    return !p_.messages_cost_time ||
           c.holds(s.busy + p_.time(s.device, s.first, end) + p_.sending(s.device, r_.links[r_.edges[e].link], end));
  }
  /// Marks the node after edge e with the end of stage s that leaves the node's device the most time, if that is more than
  /// before.
  constexpr void take_best(int v, int e, const stretch& s, const caps& c) {
    const auto& edge = r_.edges[e];
    auto& to = marks_[edge.to];
    const int device = r_.nodes[edge.to].device, devices = marks_[v].devices + (device >= 0);
    const double* x = transfers_.data() + edge.link * (p_.cut_units + 1);
    const double* done = p_.kinds[p_.devices[device >= 0 ? device : s.device].kind].seconds.data();
    for (int end = std::min(s.beyond, p_.cut_units) - 1; end > s.first; --end) {
      const double had = to.start < 0 ? -infinity : done[to.start] - to.busy;
      if (done[end] < had) return;
      if (!c.holds(x[end]) || !fits(s, end) || !sends(s, e, end, c)) continue;
      const double busy = received(p_, r_, e, end), has = done[end] - busy;
      if (has > had || (has == had && (end > to.start || devices < to.devices))) to = {end, e, v, devices, busy};
    }
  }
  /// By node: the earliest start at which it and later devices can do the rest within `c`, ignoring memory, transfers and
  /// messages.
  constexpr meta::array<int> earliest_starts(const caps& c) const {
    meta::array<int> out(r_.nodes.size());
    for (int v = r_.nodes.size() - 1; v >= 0; --v) {
      const auto& node = r_.nodes[v];
      int end = p_.cut_units;
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
  /// Whether a stage of node v from a on, later than b, can end at every cut unit after a at which one from b on can.
  constexpr bool covers(int v, int a, int b, const caps& c) const {
    const int device = r_.nodes[v].device, width = p_.cut_units + 1;
    const auto& weights = p_.kinds[p_.devices[device].kind].weights;
    return (!p_.messages_cost_time || marks_[v * width + a].busy - marks_[v * width + b].busy <= p_.time(device, b, a)) &&
           (!limited(device, c) || p_.slots * p_.crossing[a] <= p_.slots * p_.crossing[b] + weights[a] - weights[b]);
  }

  constexpr void put(int e, int start, int before) {
    auto& to = marks_[r_.edges[e].to * (p_.cut_units + 1) + start];
    const double busy = received(p_, r_, e, start);
    if (to.start < 0 || busy < to.busy) to = {start, e, before, 0, busy};
  }
  constexpr void trace(int at) {
    path_ = {};
    starts_ = {};
    for (; marks_[at].before >= 0; at = marks_[at].before)
      if (const int e = marks_[at].edge; r_.nodes[r_.edges[e].to].device >= 0) {
        path_.insert(0, e);
        starts_.insert(0, marks_[at].start);
      }
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

/// Minimises the bottleneck of one problem.
class bottleneck_search {
 public:
  constexpr bottleneck_search(const problem& p, const routes& r, bool in_order, detail::progress tell = {})
      : p_(p), r_(r), in_order_(in_order), probe_(p, r, tell) {}

  /// Some stages within `c`, as few as the quick probe finds; empty if there are none.
  constexpr solution feasible(const caps& c) {
    if (probe_.quick(c) || (!probe_.quick_is_whole(c) && probe_.whole(c))) return found();
    return {};
  }

  /// The stages within `c` whose slowest one is fastest.
  constexpr solution fastest(caps c) {
    solution best = feasible(c);
    if (best.empty()) return best;
    double infeasible = min_period(p_);
    for (c.less_than = true;;) {
      const double least = best.expected.period;
      // First bisection, then from one possible period to the next, and finally whole probes.
      c.period = least - infeasible > 1e-3 * least ? (least + infeasible) / 2 : least;
      if (probe_.quick(c)) best = found();
      else if (c.period < least) infeasible = c.period;
      else if (!probe_.quick_is_whole(c) && probe_.whole(c)) best = found();
      else return best;
    }
  }

  /// The stages within `c` that need the least memory on the device that needs most.
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
