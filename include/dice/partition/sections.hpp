// The search over arrangements: partial mappings are extended cut unit by cut unit, in the arrangement of the unit before or
// in another one, and those that no other one dominates are kept, as in labels.hpp. Exact for the times that
// cost::arranged_network counts if no state has more partial mappings than it may keep.
#pragma once

#include "dice/cost/arranged.hpp"
#include "dice/cost/arrangement.hpp"
#include "dice/cost/problem.hpp"
#include "dice/cost/setting.hpp"
#include "dice/meta/array.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/totals.hpp"
#include "dice/partition/work_bound.hpp"
#include "dice/placement/words.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace dice::partition {

using cost::arrangement;
using cost::flow;
using cost::section;

/// A mapping as sections in order, and what the search counts for it.
struct arranged_solution {
  meta::array<section> sections;
  prediction expected{};
  constexpr bool empty() const { return sections.empty(); }
};

namespace detail {

/// Finds the best mappings in the arrangements of a network. A template, so that only programs that search compile it.
template <class Network = cost::arranged_network<>> class section_search {
 public:
  /// Keeps at most `most` partial mappings for each cut unit and arrangement. `borders`: by cut unit, whether the
  /// arrangement may change before it.
  constexpr section_search(const Network& net, const cost::setting& on, const goal& g, counted what, int most,
                           const meta::array<char>& borders, progress tell)
      : net_(net), g_(g), totals_(net, on, what), most_(most), borders_(borders), tell_(tell) {
    const int n = net.size(), units = net.devices().cut_units;
    lists_ = meta::array<int>(units * n, -1);
    for (int a = 0; a < n; ++a) {
      const auto& by = net[a];
      std::uint64_t used = 0;
      for (const int d : by.devices) used |= std::uint64_t{1} << d;
      used_by_.push_back(used);
      sums_in_.push_back(placement::about(by.is().cut).sums);
    }
  }

  /// For throughput and latency: uses a bound to order partial mappings, and to rule out those that cannot become better
  /// than the best one known.
  constexpr void bound_by(const work_bound& bound) { bound_ = &bound; }

  /// Finds mappings; returns whether any was found. No other mapping is better than value `known`, or none needs to be
  /// found.
  constexpr bool run(double known = infinity) {
    known_ = known;
    const int units = net_.devices().cut_units, n = net_.size(), width = totals_.size();
    meta::array<double> now(width);
    for (int k = 0; k < units; ++k) {
      tell_(static_cast<double>(k) / units);
      for (int a = 0; a < n; ++a) {
        if (tell_.stopped()) return false;
        if (!net_.possible(a, k)) continue;
        if (k == 0) {
          for (auto& x : now) x = 0;
          for (int d = 0; d < net_.devices().devices.size() && d < width; ++d)
            now[d] = 1e-12 * d;  // of equal ones, the first
          extend(now, -1, a, k, 0);
          continue;
        }
        for (int b = 0; b < n; ++b) {
          if (lists_[(k - 1) * n + b] < 0 || (a != b && !(borders_[k] && may_follow(b, a)))) continue;
          flows_.truncate(0);
          net_.add_flows(b, a, k, flows_);
          for (int at = lists_[(k - 1) * n + b]; at >= 0; at = labels_[at].next) {
            const double* from = pool_.data() + at * width;
            for (int i = 0; i < width; ++i) now[i] = from[i];
            extend(now, at, a, k, labels_[at].used);
          }
        }
      }
    }
    return best() >= 0;
  }

  /// In place of run(): the mapping in which all cut units that can be in arrangement `a` are, and others whole on its first
  /// device, or on one that can have them. Returns whether it keeps to the limits, and has a smaller value than `known`.
  constexpr bool run_pure(int a, double known) {
    known_ = known;
    const int devices = net_.devices().devices.size(), width = totals_.size();
    int before = -1;
    for (int k = 0; k < net_.devices().cut_units; ++k) {
      int by = net_.possible(a, k) ? a : net_[a].devices[0];
      for (int d = 0; d < devices && !net_.possible(by, k); ++d) by = d;
      if (!net_.possible(by, k)) return false;
      meta::array<double> now(width);
      flows_.truncate(0);
      if (before >= 0) {
        for (int i = 0; i < width; ++i) now[i] = pool_[before * width + i];
        net_.add_flows(labels_[before].arrangement, by, k, flows_);
      }
      extend(now, before, by, k, before < 0 ? 0 : labels_[before].used);
      before = lists_[k * net_.size() + by];
      if (before < 0) return false;
    }
    return true;
  }

  /// The solutions found, the best one first; at most `count`.
  constexpr meta::array<arranged_solution> solutions(int count) const {
    meta::array<int> order;
    const int units = net_.devices().cut_units, n = net_.size();
    for (int a = 0; a < n; ++a)
      for (int at = lists_[(units - 1) * n + a]; at >= 0; at = labels_[at].next) {
        int where = 0;
        while (where < order.size() && labels_[order[where]].value <= labels_[at].value) ++where;
        order.insert(where, at);
      }
    meta::array<arranged_solution> out;
    for (int i = 0; i < order.size() && i < count; ++i) out.push_back(solution_of(order[i]));
    return out;
  }

 private:
  struct label {
    double value = 0;
    std::uint64_t used = 0;  ///< devices, as bits
    int before = -1, next = -1, arrangement = -1;
  };

  constexpr bool may_follow(int before, int after) const {
    if (!g_.in_order) return true;
    int last = 0, first = std::numeric_limits<int>::max();
    for (const int d : net_[before].devices) last = std::max(last, d);
    for (const int d : net_[after].devices) first = std::min(first, d);
    return first > last;
  }
  constexpr int best() const {
    int out = -1;
    const int units = net_.devices().cut_units, n = net_.size();
    for (int a = 0; a < n; ++a)
      for (int at = lists_[(units - 1) * n + a]; at >= 0; at = labels_[at].next)
        if (out < 0 || labels_[at].value < labels_[out].value) out = at;
    return out;
  }

  /// Adds cut unit k in arrangement `a` to totals `now` of the partial mapping `before`, behind which flows_ move.
  constexpr void extend(meta::array<double>& now, int before, int a, int k, std::uint64_t used) {
    const auto& by = net_[a];
    double* t = now.data();
    used |= used_by_.first[a];
    if (few_ && std::popcount(used) > g_.max_devices) return;
    if (before >= 0) {
      const int b = labels_[before].arrangement;
      const auto& lead = net_.of(a).lead;
      const bool early = b == a && flows_.size() > 0 && lead.size() > 0;
      if (early) {
        if (ready_.empty()) ready_ = meta::array<double>(net_.devices().devices.size());
        const int n = by.devices.size();
        for (int i = 0; i < n; ++i) ready_[by.devices[i]] = lead[(k - 1) * n + i];
      }
      totals_.move(t, flows_.data(), flows_.size(), by, early ? ready_.data() : nullptr);
    }
    totals_.compute(t, a, k);
    if (sums_in_.first[a]) {
      sums_.truncate(0);
      net_.add_sums(a, k, sums_);
      totals_.move(t, sums_.data(), sums_.size(), by, nullptr);
    }
    if (!totals_.fits(t, by)) return;
    label next{.value = value_of(t, by, used), .used = used, .before = before, .arrangement = a};
    if (g_.max_period < infinity && totals_.period(t) > g_.max_period) return;
    if (g_.max_latency < infinity && totals_.latency(t, by) > g_.max_latency) return;
    if (bound_ && k + 1 < net_.devices().cut_units) {
      const bool latency = g_.best == objective::latency;
      const double rest = bound_->rest.first[k + 1];
      double least = totals_.mean(t, bound_->weights.first, latency) + rest;
      if (latency) {  // what follows reads what these devices have made
        double first = infinity;
        for (const int d : by.devices) first = std::min(first, t[d]);
        least = std::max(least, first + rest);
      }
      next.value = std::max(next.value, least);
    }
    if (next.value >= known_) return;
    keep(next, t, k * net_.size() + a);
  }
  constexpr double value_of(const double* t, const arrangement& by, std::uint64_t used) const {
    switch (g_.best) {
      case objective::throughput:
        return totals_.period(t);
      case objective::latency:
        return totals_.latency(t, by);
      case objective::energy:
        return totals_.energy(t, used, totals_.period(t));
      default:
        return totals_.memory(t);
    }
  }
  /// Keeps a partial mapping unless another one is as good in every total; drops those that it beats, and the worst one of
  /// too many.
  constexpr void keep(label next, const double* t, int state) {
    const int width = totals_.size();
    const auto beats = [&](const double* x, std::uint64_t x_used, const double* y, std::uint64_t y_used) {
      if ((few_ || g_.best == objective::energy) && (x_used & ~y_used) != 0) return false;
      for (int i = 0; i < width; ++i)
        if (x[i] > y[i]) return false;
      return true;
    };
    int count = 0, worst = -1, worst_before = -1;
    for (int at = lists_[state], before = -1; at >= 0;) {
      auto& other = labels_[at];
      const double* x = pool_.data() + at * width;
      if (other.value <= next.value && beats(x, other.used, t, next.used)) return;
      if (next.value <= other.value && beats(t, next.used, x, other.used)) {
        const int after = other.next;
        (before < 0 ? lists_[state] : labels_[before].next) = after;
        free_.push_back(at);
        at = after;
        continue;
      }
      ++count;
      if (worst < 0 || other.value > labels_[worst].value) {
        worst = at;
        worst_before = before;
      }
      before = at;
      at = other.next;
    }
    if (count >= most_) {
      if (next.value >= labels_[worst].value) return;
      (worst_before < 0 ? lists_[state] : labels_[worst_before].next) = labels_[worst].next;
      free_.push_back(worst);
    }
    int at = labels_.size();
    if (free_.empty()) {
      labels_.push_back(next);
      for (int i = 0; i < width; ++i) pool_.push_back(t[i]);
    } else {
      at = free_[free_.size() - 1];
      free_.truncate(free_.size() - 1);
      labels_[at] = next;
      for (int i = 0; i < width; ++i) pool_[at * width + i] = t[i];
    }
    labels_[at].next = lists_[state];
    lists_[state] = at;
  }
  constexpr arranged_solution solution_of(int last) const {
    arranged_solution out;
    meta::array<int> by;
    for (int at = last; at >= 0; at = labels_[at].before) by.push_back(labels_[at].arrangement);
    for (int i = by.size() - 1, k = 0; i >= 0; --i, ++k) {
      if (out.sections.empty() || out.sections[out.sections.size() - 1].arrangement != by[i])
        out.sections.push_back({by[i], k, k});
      out.sections[out.sections.size() - 1].last = k + 1;
    }
    const double* t = pool_.data() + last * totals_.size();
    out.expected.latency = totals_.latency(t, net_[by[0]]);
    out.expected.period = totals_.period(t);
    out.expected.throughput = out.expected.period > 0 ? 1 / out.expected.period : infinity;
    out.expected.energy = totals_.energy(t, labels_[last].used, out.expected.period);
    out.expected.memory = static_cast<std::int64_t>(totals_.memory(t));
    return out;
  }

  const Network& net_;
  const goal& g_;
  totals<Network> totals_;
  const int most_;
  const meta::array<char>& borders_;
  progress tell_;
  double known_ = infinity;
  const work_bound* bound_ = nullptr;
  const bool few_ = g_.max_devices < net_.devices().devices.size();  ///< whether not all devices may be used
  meta::array<label> labels_;
  meta::array<double> pool_;  ///< totals of the labels
  meta::array<int> lists_;    ///< by cut unit and arrangement: its first label
  meta::array<int> free_;     ///< labels to use again
  meta::array<flow> flows_, sums_;
  meta::array<double> ready_;
  meta::array<std::uint64_t> used_by_;  ///< devices of each arrangement, as bits
  meta::array<char> sums_in_;           ///< whether partial sums are exchanged
};

}  // namespace detail
}  // namespace dice::partition
