// Mappings in which a device computes more than one stage (h1 – h0 – h1), of up to four stages: all of them, less those that
// a bound rules out.
#pragma once

#include "dice/partition/labels.hpp"
#include "dice/partition/problem.hpp"

#include <algorithm>

namespace dice::partition::detail {

class repeat_search {
 public:
  static constexpr int most_stages = 4;

  constexpr repeat_search(const problem& p, const goal& g)
      : p_(p), g_(g), times_(p.devices.size()), uses_(p.devices.size()), host_uses_(p.hosts), rest_work_(p.pieces + 1) {
    for (int k = p.pieces - 1; k >= 0; --k) {
      double work = infinity;
      for (const auto& d : p.devices) {
        const double t = p.kinds[d.kind].seconds[k + 1] - p.kinds[d.kind].seconds[k];
        work = std::min(work, (d.busy_watts - d.idle_watts) * t);
      }
      rest_work_[k] = rest_work_[k + 1] + work;
    }
  }

  /// Stages that are better than a mapping whose value is `known`; none if there are none.
  constexpr solution run(double known) {
    best_ = known;
    next({}, 0, false);
    return found_;
  }

 private:
  struct sums {
    double period = 0, latency = 0, work = 0, idle = 0;
  };

  /// No mapping that continues these stages from piece k on has a smaller value; infinite if none keeps to the limits.
  constexpr double bound(const sums& s, int k) const {
    if (s.period > g_.most_period || s.latency + p_.rest[k] > g_.most_latency) return infinity;
    switch (g_.best) {
      case objective::throughput:
        return s.period;
      case objective::latency:
        return s.latency + p_.rest[k];
      case objective::energy:
        return s.work + s.idle * s.period + rest_work_[k];
      default:
        return 0;
    }
  }

  /// Of hosts that are like one another the first ones are taken first.
  constexpr bool in_turn(int device) const {
    const int host = p_.devices[device].host;
    if (host_uses_[host]) return true;
    for (int h = 0; h < host; ++h)
      if (!host_uses_[h] && p_.host_kind[h] == p_.host_kind[host]) return false;
    return true;
  }

  /// Tries all stages from piece `first` on.
  constexpr void next(const sums& before, int first, bool repeated) {
    const int last = stages_.empty() ? -1 : stages_[stages_.size() - 1].device;
    for (int device = 0; device < p_.devices.size(); ++device) {
      if (device == last || !in_turn(device)) continue;
      const bool again = uses_[device] > 0;
      const auto& d = p_.devices[device];
      sums now = before;
      if (last >= 0) {
        const double x = p_.transfer(p_.link(last, device), first);
        now.period = std::max(now.period, x), now.latency += x;
      }
      if (!again) now.idle += d.idle_watts;
      if (bound(now, first) >= best_) continue;
      const double had = times_[device];
      ++uses_[device], ++host_uses_[d.host];
      for (int end = first + 1; end <= p_.pieces; ++end) {
        const double t = p_.time(device, first, end);
        sums then = now;
        times_[device] = had + t;
        then.period = std::max(then.period, times_[device]), then.latency += t;
        then.work += (d.busy_watts - d.idle_watts) * t;
        if (bound(then, end) >= best_) break;
        stages_.push_back({device, first, end});
        if (end == p_.pieces) finish(repeated || again);
        else if (stages_.size() < most_stages) next(then, end, repeated || again);
        stages_.truncate(stages_.size() - 1);
      }
      times_[device] = had;
      --uses_[device], --host_uses_[d.host];
    }
  }

  constexpr void finish(bool repeated) {
    if (!repeated) return;  // the other searches know those
    const auto expected = predict(p_, stages_);
    if (!keeps(expected, g_) || value_of(g_.best, expected) >= best_) return;
    for (int d = 0; d < p_.devices.size(); ++d)
      if (uses_[d] && memory_of(p_, stages_, d) > p_.devices[d].memory_limit) return;
    best_ = value_of(g_.best, expected);
    found_ = {stages_, expected};
  }

  const problem& p_;
  const goal& g_;
  meta::array<stage> stages_;
  meta::array<double> times_;          ///< by device, of all its stages
  meta::array<int> uses_, host_uses_;  ///< stages by device and by host
  meta::array<double> rest_work_;      ///< from each piece on, each on the device best for it
  double best_ = infinity;
  solution found_;
};

}  // namespace dice::partition::detail
