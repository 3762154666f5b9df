// Mappings of up to four stages in which a device computes more than one (h1 – h0 – h1): tries all that bounds do not rule
// out. With routes.hpp these are the configurations of Velasco-Montero et al. (2023), Eq. (2), for up to four stages.
#pragma once

#include "dice/partition/bounds.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace dice::partition::detail {

class repeat_search {
 public:
  static constexpr int max_stages = 4;
  /// Sums of the same numbers in different orders differ by less (relative).
  static constexpr double rounding = 1e-12;

  constexpr repeat_search(const problem& p, const goal& g, progress tell = {})
      : p_(p),
        g_(g),
        tell_(tell),
        bounds_(p, g, true),
        uses_(p.devices.size()),
        host_uses_(p.hosts),
        rest_weights_(p.cut_units + 1),
        last_live_(p.kinds.size() * (p.cut_units + 1)) {
    for (int k = p.cut_units - 1; k >= 0; --k) {
      std::int64_t weights = std::numeric_limits<std::int64_t>::max();
      for (const auto& c : p.kinds) weights = std::min(weights, c.weights[k + 1] - c.weights[k]);
      rest_weights_[k] = rest_weights_[k + 1] + weights;
      for (int kind = 0; kind < p.kinds.size(); ++kind) {
        auto* live = &last_live_[kind * (p.cut_units + 1) + k];
        *live = std::max(live[1], p.kinds[kind].live[k]);
      }
    }
  }

  /// Stages that are better than a mapping whose value is `known`; empty if there are none.
  constexpr solution run(double known) {
    best_ = known;
    next({}, 0, false);
    return found_;
  }

 private:
  /// Totals of a device's stages so far.
  struct use {
    int stages = 0;
    double seconds = 0;
    std::int64_t weights = 0, live = 0, channels = 0;
  };

  /// Whether a mapping that continues s from cut unit k on may be better than the best, and keep to the limits.
  constexpr bool promising(const sums& s, int k) const {
    return s.period <= g_.max_period && s.latency + p_.rest[k] * (1 - rounding) <= g_.max_latency * (1 + rounding) &&
           bounds_.least(s, k) < best_;
  }

  /// Whether `device` is in turn: hosts that are alike are used in their order.
  constexpr bool in_turn(int device) const {
    const int host = p_.devices[device].host;
    if (host_uses_[host]) return true;
    for (int h = 0; h < host; ++h)
      if (!host_uses_[h] && p_.host_kind[h] == p_.host_kind[host]) return false;
    return true;
  }

  /// Tries all stages from cut unit `first` on.
  constexpr void next(const sums& before, int first, bool repeated) {
    const int last = stages_.empty() ? -1 : stages_[stages_.size() - 1].device;
    const int left = max_stages - 1 - stages_.size();  // stages after this one
    for (int device = 0; device < p_.devices.size(); ++device) {
      const bool again = uses_[device].stages > 0;
      if (device == last || !in_turn(device) || (left == 0 && !repeated && !again)) continue;
      if (!again && devices_ == g_.max_devices) continue;
      const auto& d = p_.devices[device];
      sums now = before;
      double received = 0, sender_had = 0;
      if (last >= 0) {
        const auto& by = p_.link(last, device);
        const double x = p_.transfer(by, first), sent = p_.sending(last, by, first);
        sender_had = uses_[last].seconds;
        uses_[last].seconds += sent;
        now.period = std::max({now.period, x, uses_[last].seconds});
        now.latency += x;
        now.work += (p_.devices[last].busy_watts - p_.devices[last].idle_watts) * sent;
        received = p_.receiving(device, by, first);
      }
      if (!again) now.idle += d.idle_watts;
      if (promising(now, first)) {
        const use had = uses_[device];
        ++host_uses_[d.host];
        devices_ += !again;
        each_end(now, device, first, received, left, repeated || again);
        uses_[device] = had;
        --host_uses_[d.host];
        devices_ -= !again;
      }
      if (last >= 0) uses_[last].seconds = sender_had;
    }
  }

  /// Tries all ends of a stage of `device` after stages with totals `before`; receiving costs it `received` s.
  constexpr void each_end(const sums& before, int device, int first, double received, int left, bool repeated) {
    const auto& d = p_.devices[device];
    const auto& c = p_.kinds[d.kind];
    auto& here = uses_[device];
    const use had = here;
    std::int64_t live = had.live;
    if (left == 0) live = std::max(live, last_live_[d.kind * (p_.cut_units + 1) + first]);
    for (int end = left == 0 ? p_.cut_units : first + 1; end <= p_.cut_units; ++end) {
      live = std::max(live, c.live[end - 1]);
      const double t = c.seconds[end] - c.seconds[first];
      here = {had.stages + 1, had.seconds + received + t, had.weights + c.weights[end] - c.weights[first], live,
              had.channels + p_.crossing[first]};
      sums now = before;
      now.period = std::max(now.period, here.seconds);
      now.latency += t;
      now.work += (d.busy_watts - d.idle_watts) * (received + t);
      const auto held = here.weights + here.live + p_.slots * here.channels;
      now.memory = std::max(now.memory, held);
      if (held > d.memory_limit || !promising(now, end)) return;  // nor can any later end help
      here.channels += p_.crossing[end];
      const auto memory = held + p_.slots * p_.crossing[end];
      if (memory > d.memory_limit) continue;
      now.memory = std::max(now.memory, memory);
      if (left == max_stages - 1) {
        const double rest = 1 - static_cast<double>(end) / p_.cut_units;
        tell_((device + 1 - rest * rest * rest) / p_.devices.size());
      }
      sums later = now;
      if (end < p_.cut_units) {  // at most `left` devices share the rest
        later.period = std::max(later.period, p_.rest[end] / left * (1 - rounding));
        later.memory = std::max(later.memory, rest_weights_[end] / left);
      }
      if (!promising(later, end)) continue;
      stages_.push_back({device, first, end});
      if (end == p_.cut_units) finish(repeated);
      else next(now, end, repeated);
      stages_.truncate(stages_.size() - 1);
    }
  }

  constexpr void finish(bool repeated) {
    if (!repeated) return;  // the other searches find those
    const auto expected = predict(p_, stages_);
    if (!keeps(expected, g_) || value_of(g_.best, expected) >= best_) return;
    best_ = value_of(g_.best, expected);
    found_ = {stages_, expected};
  }

  const problem& p_;
  const goal& g_;
  progress tell_;
  bounds bounds_;
  meta::array<stage> stages_;
  meta::array<use> uses_;                   ///< by device
  meta::array<int> host_uses_;              ///< stages by host
  int devices_ = 0;                         ///< that have stages
  meta::array<std::int64_t> rest_weights_;  ///< bytes of the cut units from each one on, each where it has fewest
  meta::array<std::int64_t> last_live_;     ///< by kind and cut unit: most live bytes from there on
  double best_ = infinity;
  solution found_;
};

}  // namespace dice::partition::detail
