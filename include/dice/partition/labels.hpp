// The search for objectives that are sums, and under limits on sums: partial mappings are extended stage by stage, and those
// that no other one dominates are kept (label setting; Martins 1984, "On a multicriteria shortest path problem"). Exact for
// every objective and limit.
#pragma once

#include "dice/partition/bounds.hpp"
#include "dice/partition/fill.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/problem.hpp"
#include "dice/partition/routes.hpp"
#include "dice/partition/sum_rest.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>

namespace dice::partition {

namespace detail {

/// Lower bounds for the rest of a mapping. They cost more to compute than `bounds`, which pays off where those are too low.
struct rests {
  const sum_rest* latency = nullptr;  ///< for that objective or limit
  const sum_rest* energy = nullptr;   ///< for that objective
};

class label_search {
 public:
  /// Gives up beyond `most` labels. With rests.energy, periods below its shortest one count as that one, and g.max_period
  /// must be its longest one.
  constexpr label_search(const problem& p, const routes& r, const goal& g, progress tell, rests with = {},
                         int most = INT_MAX)
      : p_(p),
        r_(r),
        g_(g),
        tell_(tell),
        bounds_(p, g, false),
        latency_(with.latency),
        rest_(g.best == objective::latency ? with.latency : with.energy),
        most_(most),
        transfers_(transfers_of(p, r)),
        heads_(r.nodes.size() * (p.cut_units + 1), -1) {}

  /// Sums of the same numbers in different orders differ by less (relative).
  static constexpr double rounding = 1e-12;

  /// Finds a mapping better than value `known`, as indices of edges and the first cut unit of each stage; false if there is
  /// none.
  constexpr bool run(double known, meta::array<int>& path, meta::array<int>& starts) {
    best_ = known * (1 - rounding);
    labels_.push_back({});
    labels_[0].period = rest_ ? std::max(min_period(p_), rest_->min_period()) : min_period(p_);
    heads_[0] = 0;
    for (int v = 0; v < r_.nodes.size() && finished(); ++v) {
      for (int first = 0; first < p_.cut_units && finished(); ++first) {
        tell_((v + static_cast<double>(first) / p_.cut_units) / r_.nodes.size());
        for (int l = heads_[v * (p_.cut_units + 1) + first]; l >= 0 && finished(); l = labels_[l].next) {
          if (r_.nodes[v].device >= 0) extend(v, l);
          else forward(v, l);
        }
      }
    }
    for (int l = last_; l > 0; l = labels_[l].before)
      if (r_.nodes[r_.edges[labels_[l].edge].to].device >= 0) {
        path.insert(0, labels_[l].edge);
        starts.insert(0, labels_[l].start);
      }
    return last_ >= 0;
  }
  /// Whether it did not give up; if it did, there may be better mappings.
  constexpr bool finished() const { return labels_.size() <= most_; }

 private:
  /// A device whose stage begins at `start`, the totals of the stages before it, and the time in s that receiving costs it.
  struct label : sums {
    double busy = 0;
    int start = 0, edge = -1, before = -1, next = -1;
  };

  constexpr bool counts(objective o) const { return g_.best == o; }
  /// Whether a is at least as good as b in every relevant criterion.
  constexpr bool covers(const label& a, const label& b) const {
    const bool energy = counts(objective::energy);
    const bool period = counts(objective::throughput) || energy;
    if (period && a.period > b.period) return false;
    if ((period || g_.max_period < infinity) && a.busy > b.busy) return false;
    if ((counts(objective::latency) || g_.max_latency < infinity) && a.latency > b.latency) return false;
    if (energy && (a.work > b.work || a.idle > b.idle)) return false;
    return !counts(objective::peak_memory) || a.memory <= b.memory;
  }
  constexpr void forward(int v, int at) {
    label l = labels_[at];
    l.before = at;
    for (int e = r_.nodes[v].first_edge; e < r_.nodes[v].last_edge; ++e) add(e, l.start, l);
  }

  constexpr void extend(int v, int at) {
    const label from = labels_[at];
    const auto& node = r_.nodes[v];
    const auto& d = p_.devices[node.device];
    const auto& c = p_.kinds[d.kind];
    const double *seconds = c.seconds.data(), *rest = p_.rest.data(), begin = seconds[from.start];
    const double watts = d.busy_watts - d.idle_watts, held_power = from.idle + d.idle_watts;
    std::int64_t live = 0;
    for (int end = from.start + 1; end <= p_.cut_units; ++end) {
      const double t = seconds[end] - begin, busy = from.busy + t;
      live = std::max(live, c.live[end - 1]);
      const auto held = c.weights[end] - c.weights[from.start] + live;
      // Each of these only grows with the end.
      if (busy > g_.max_period || from.latency + t + rest[end] * (1 - rounding) > g_.max_latency || held > d.memory_limit)
        return;
      label l = from;
      l.period = std::max(l.period, busy);
      l.latency += t;
      l.work += watts * busy;
      l.idle = held_power;
      l.memory = std::max(l.memory, held);
      if (rest_ ? sum(l) + rest_->after(v, end) >= best_ : bounds_.least(l, end) >= best_) {
        if (rest_ || counts(objective::energy)) continue;
        return;  // this only grows, too
      }
      const auto memory = held + p_.slots * (p_.crossing[from.start] + p_.crossing[end]);
      if (memory > d.memory_limit) continue;
      l.memory = std::max(l.memory, memory);
      if (end == p_.cut_units) {
        if (l.latency <= g_.max_latency && bounds_.least(l, end) < best_) {
          best_ = bounds_.least(l, end) * (1 - rounding);
          last_ = at;
        }
        return;
      }
      l.before = at;
      for (int e = node.first_edge; e < node.last_edge; ++e) {
        const int link = r_.edges[e].link;
        const double x = transfers_[link * (p_.cut_units + 1) + end];
        label next = l;
        next.period = std::max(next.period, x);
        next.latency += x;
        if (p_.messages_cost_time) {
          const double sent = p_.sending(node.device, r_.links[link], end);
          next.period = std::max(next.period, busy + sent);
          next.work += watts * sent;
        }
        if (next.period <= g_.max_period && in_time(next, r_.edges[e].to, end) &&
            (rest_ ? sum(next) + rest_->from(r_.edges[e].to, end) : bounds_.least(next, end)) < best_)
          add(e, end, next);
      }
    }
  }

  constexpr bool in_time(const label& l, int v, int start) const {
    return (l.latency + (latency_ ? latency_->from(v, start) : p_.rest[start])) * (1 - rounding) <= g_.max_latency;
  }
  /// Latency or energy so far.
  constexpr double sum(const label& l) const { return counts(objective::latency) ? l.latency : l.work + l.idle * l.period; }

  constexpr void add(int e, int start, label l) {
    l.start = start;
    l.edge = e;
    l.next = -1;
    l.busy = received(p_, r_, e, start);
    const int list = r_.edges[e].to * (p_.cut_units + 1) + start;
    int* at = &heads_[list];
    while (*at >= 0) {
      auto& other = labels_[*at];
      if (covers(other, l)) return;
      if (covers(l, other)) *at = other.next;
      else at = &other.next;
    }
    labels_.push_back(l);
    int* end = &heads_[list];  // the array may have moved
    while (*end >= 0) end = &labels_[*end].next;
    *end = labels_.size() - 1;
  }

  const problem& p_;
  const routes& r_;
  const goal& g_;
  progress tell_;
  bounds bounds_;
  const sum_rest *latency_, *rest_;  ///< rest_: for the objective; null: bounds_ is used
  int most_;
  meta::array<double> transfers_;  ///< by link and cut
  meta::array<label> labels_;
  meta::array<int> heads_;  ///< by node and start: its first label
  double best_ = infinity;
  int last_ = -1;
};

}  // namespace detail

}  // namespace dice::partition
