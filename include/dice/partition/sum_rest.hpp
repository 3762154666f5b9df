#pragma once

#include "dice/partition/fill.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/problem.hpp"
#include "dice/partition/routes.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::partition::detail {

/// By node: upper bound, in s, of the part of problem::rest that its device and all later ones can do in 1 s.
constexpr meta::array<double> shares_of(const problem& p, const routes& r) {
  meta::array<double> out(r.nodes.size());
  for (int v = r.nodes.size() - 1; v >= 0; --v) {
    const auto& node = r.nodes[v];
    for (int e = node.first_edge; e < node.last_edge; ++e) out[v] = std::max(out[v], out[r.edges[e].to]);
    if (node.device >= 0) out[v] += p.kinds[p.devices[node.device].kind].share;
  }
  return out;
}

/// The least that the rest of a mapping adds to its latency, in s, or to its energy, in J, if its period is in an interval:
/// with idle power for the shortest period, no stage longer than the longest period, and only weights as memory. So it is a
/// sum, minimised backwards from the end; for each stage, a queue holds the ends that may become the best.
class sum_rest {
 public:
  /// `transfers`: by link and cut, in s; `before`: the least that is added before each cut unit. Rests that lead to more
  /// than `most` are left out.
  constexpr sum_rest(const problem& p, const routes& r, const meta::array<double>& transfers,
                     const meta::array<double>& before, double most, objective best, double min_period, double max_period)
      : width_(p.cut_units + 1),
        energy_(best == objective::energy),
        min_period_(min_period),
        from_(r.nodes.size() * width_, infinity),
        after_(r.nodes.size() * width_, infinity) {
    const auto shares = shares_of(p, r);
    const double limit = most * (1 + 1e-9);
    meta::array<int> begins(r.nodes.size()), ends(r.nodes.size());  // by node: cut units from which a rest may be worthwhile
    lines store(width_);
    for (int v = r.nodes.size() - 1; v >= 0; --v) {
      const auto& node = r.nodes[v];
      const double share = shares[v] - (node.device < 0 ? 0 : p.kinds[p.devices[node.device].kind].share);
      int first = node.device < 0 ? 0 : 1;  // the first end after which later devices have enough time
      const double in_time = max_period < infinity ? max_period * share * (1 + 1e-9) : infinity;
      while (first < p.cut_units && p.rest[first] > in_time) ++first;
      double* after = after_.data() + v * width_;
      for (int e = node.first_edge; e < node.last_edge; ++e) {
        const auto& edge = r.edges[e];
        const double *next = from_.data() + edge.to * width_, *x = transfers.data() + edge.link * width_;
        const int beyond = ends[edge.to];
        for (int k = std::max(first, begins[edge.to]); k < beyond; ++k) {
          double sum = next[k];
          if (sum >= after[k]) continue;
          if (node.device >= 0) {
            if (x[k] > max_period) continue;
            if (!energy_) sum += x[k];
          }
          if (energy_ && p.messages_cost_time && k > 0) sum += message_energy(p, r, v, e, k);
          if (sum < after[k]) after[k] = sum;
        }
      }
      double* from = from_.data() + v * width_;
      if (node.device < 0)
        for (int k = 0; k < p.cut_units; ++k) from[k] = after[k];
      else begin_stages(p, p.devices[node.device], max_period, after, from, store);
      int &begin = begins[v], &end = ends[v] = p.cut_units;
      const double* done = before.data();
      for (; end > 0 && from[end - 1] + done[end - 1] >= limit; --end) from[end - 1] = infinity;
      for (; begin < end && from[begin] + done[begin] >= limit; ++begin) from[begin] = infinity;
    }
  }

  constexpr double min_period() const { return min_period_; }
  /// A stage of node v that begins at cut unit `start`, without its receiving, and all after it.
  constexpr double from(int v, int start) const { return from_[v * width_ + start]; }
  /// All after a stage of node v that ends before cut unit `end`, with the messages between.
  constexpr double after(int v, int end) const { return after_[v * width_ + end]; }
  constexpr double whole() const { return from_[0]; }

 private:
  /// Ends of stages that may become the best one, in descending order, the best one first, with what they and all after them
  /// add: `brief` for stages no longer than the shortest period, `longer` for the others.
  struct lines {
    meta::array<int> brief, longer;
    meta::array<double> brief_sum, long_sum;
    constexpr explicit lines(int n) : brief(n), longer(n), brief_sum(n), long_sum(n) {}
  };

  /// What a second of computing adds.
  constexpr double each(const device& d) const { return energy_ ? d.busy_watts - d.idle_watts : 1; }
  /// Energy in J that messages add on the devices at both ends of edge e out of node v, for the cut before cut unit k > 0.
  constexpr double message_energy(const problem& p, const routes& r, int v, int e, int k) const {
    if (r.links.empty()) return 0;
    const int a = r.nodes[v].device, b = r.nodes[r.edges[e].to].device;
    const auto& link = r.links[r.edges[e].link];
    return (a < 0 ? 0 : each(p.devices[a]) * p.sending(a, link, k)) +
           (b < 0 ? 0 : each(p.devices[b]) * p.receiving(b, link, k));
  }
  /// Fills in from[k] for stages of device d, given what is added after each end. Has no calls, which are slow in compilers.
  constexpr void begin_stages(const problem& p, const device& d, double max_period, double* after, double* from,
                              lines& store) {
    after[p.cut_units] = 0;
    const double *seconds = p.kinds[d.kind].seconds.data(), watts = each(d);
    const double idle = energy_ ? d.idle_watts : 0, busy = watts + idle, held = idle * min_period_, shortest = min_period_;
    const std::int64_t* weights = p.kinds[d.kind].weights.data();
    const bool limited = d.memory_limit < weights[p.cut_units] || max_period < seconds[p.cut_units];
    int *brief = store.brief.data(), *longer = store.longer.data();
    double *brief_sum = store.brief_sum.data(), *long_sum = store.long_sum.data();
    int brief_first = 0, brief_last = 0, long_first = 0, long_last = 0;
    int end = p.cut_units;  // of the longest brief stage from cut unit k on
    for (int k = p.cut_units; k >= 0; --k) {
      const double begin = seconds[k], rest = after[k];
      for (; seconds[end] - begin > shortest; --end) {
        const double sum = after[end] + busy * seconds[end];
        if (sum == infinity) continue;
        while (long_last > long_first && long_sum[long_last - 1] >= sum) --long_last;
        longer[long_last] = end;
        long_sum[long_last++] = sum;
      }
      while (brief_first < brief_last && brief[brief_first] > end) ++brief_first;
      if (limited) {
        while (brief_first < brief_last && (seconds[brief[brief_first]] - begin > max_period ||
                                            weights[brief[brief_first]] - weights[k] > d.memory_limit))
          ++brief_first;
        while (long_first < long_last && (seconds[longer[long_first]] - begin > max_period ||
                                          weights[longer[long_first]] - weights[k] > d.memory_limit))
          ++long_first;
      }
      double best = infinity;
      if (brief_first < brief_last) best = brief_sum[brief_first] - watts * begin + held;
      if (long_first < long_last) {
        const double other = long_sum[long_first] - busy * begin;
        if (other < best) best = other;
      }
      from[k] = best;
      if (rest == infinity) continue;
      const double sum = rest + watts * begin;
      while (brief_last > brief_first && brief_sum[brief_last - 1] >= sum) --brief_last;
      brief[brief_last] = k;
      brief_sum[brief_last++] = sum;
    }
  }

  int width_;
  bool energy_;
  double min_period_;
  meta::array<double> from_, after_;  ///< by node and cut unit
};

}  // namespace dice::partition::detail
