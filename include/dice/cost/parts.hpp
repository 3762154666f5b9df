// Predictions for plans of networks of parts: one frame, step by step on all ranks.
#pragma once

#include "dice/cost/setting.hpp"
#include "dice/meta/array.hpp"
#include "dice/parts/part.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dice::cost {

/// What a rank does in one frame, in s.
struct rank_time {
  double computing = 0, messages = 0;
  constexpr double busy() const { return computing + messages; }
};

/// A prediction for a plan in which layers have parts.
struct parts_prediction {
  prediction expected{};
  meta::array<rank_time> ranks;
  meta::array<double> groups;  ///< s, by fusion group
};

namespace detail {

/// Bytes per second at which pieces of tensors are cut out and put together, if the layers' times say nothing else.
inline constexpr double copied_bytes_per_s = 5e9;

/// Time in s of layer l of a network of parts as the anchor of a group, if the whole layer takes `whole`: in proportion to
/// its products, or to its elements.
constexpr double part_seconds(const parts::parts_view& p, const graph::network_view& net, int l, double whole) {
  const auto& part = p.net.layers[l];
  if (!p.is_own(l)) return part.view >= 0 ? 0 : 2 * static_cast<double>(part.output.bytes()) / copied_bytes_per_s;
  const auto& all = net.layers[p.whole(l)];
  const double some = static_cast<double>(all.macs > 0 ? part.macs : part.output.elements());
  return whole * some / static_cast<double>(std::max<std::int64_t>(all.macs > 0 ? all.macs : all.output.elements(), 1));
}

}  // namespace detail

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

/// The prediction for the plan `plan` of the network of parts `p`, whose whole layers `s` describes. Latency: each rank does
/// its steps in order, a message arrives when its link has carried it after it was sent; period: the busiest rank or link.
constexpr parts_prediction predict(const setting& s, const parts::parts_view& p, const schedule::plan_view& plan,
                                   std::span<const placed_rank> ranks) {
  parts_prediction out;
  const int n = static_cast<int>(ranks.size());
  out.ranks = meta::array<rank_time>(n);
  out.groups = meta::array<double>(static_cast<int>(plan.groups.size()));
  const auto processor_of = [&](int rank) {
    const auto& host = s.cluster.hosts[ranks[static_cast<std::size_t>(rank)].on_host];
    for (int k = 0; k < host.processors; ++k) {
      const auto at = static_cast<std::size_t>(host.first_processor + k);
      if (share_of(s.cluster, at, ranks[static_cast<std::size_t>(rank)]) > 0) return at;
    }
    return std::size_t{0};
  };
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const auto& group = plan.groups[g];
    out.groups[static_cast<int>(g)] = detail::part_seconds(
        p, s.net, group.anchor, seconds_on(s, ranks[static_cast<std::size_t>(group.rank)], p.whole(group.anchor)));
  }

  const auto link = [&](int a, int b) -> const platform::link& {
    return s.cluster.between(ranks[static_cast<std::size_t>(a)].on_host, ranks[static_cast<std::size_t>(b)].on_host);
  };
  meta::array<double> arrival(static_cast<int>(plan.messages.size()), -1), clock(n), carried(n * n), link_busy(n * n);
  meta::array<int> next(n);
  for (int r = 0; r < n; ++r) next[r] = plan.ranks[static_cast<std::size_t>(r)].first_step;
  for (bool moved = true; moved;) {
    moved = false;
    for (int r = 0; r < n; ++r)
      for (; next[r] < plan.ranks[static_cast<std::size_t>(r)].last_step; ++next[r], moved = true) {
        const auto& step = plan.steps[static_cast<std::size_t>(next[r])];
        if (step.what == schedule::action::compute) {
          const double t = out.groups[step.group];
          clock[r] += t, out.ranks[r].computing += t;
        } else if (step.what == schedule::action::send || step.what == schedule::action::receive) {
          const auto& m = plan.messages[static_cast<std::size_t>(step.message)];
          const auto& by = link(m.from, m.to);
          const auto& about = s.cluster.processors[processor_of(r)];
          const bool sends = step.what == schedule::action::send;
          if (!sends && arrival[step.message] < 0) break;
          const auto& own = sends ? about.sending : about.receiving;
          const double t = by.within_host || own.bytes_per_s <= 0 ? 0 : own.time(m.bytes, 1);
          out.ranks[r].messages += t;
          if (sends) {
            // Messages of one link follow each other.
            auto& free = carried[m.from * n + m.to];
            free = std::max(free, clock[r]) + by.time(m.bytes, 0);
            arrival[step.message] = free + by.time(0, 1);
            clock[r] += t;
            auto& busy = link_busy[m.from * n + m.to];
            busy += by.time(m.bytes, 1);
            out.expected.period = std::max(out.expected.period, busy);
          } else {
            clock[r] = std::max(clock[r], arrival[step.message]) + t;
          }
        }
      }
  }
  for (int r = 0; r < n; ++r) {
    out.expected.latency = std::max(out.expected.latency, clock[r]);
    out.expected.period = std::max(out.expected.period, out.ranks[r].busy());
    out.expected.memory = std::max(out.expected.memory, plan.ranks[static_cast<std::size_t>(r)].peak_bytes);
  }
  for (int r = 0; r < n; ++r) {
    const auto& about = s.cluster.processors[processor_of(r)];
    const double busy = out.ranks[r].busy();
    out.expected.energy += about.busy_watts * busy + about.idle_watts * (out.expected.period - busy);
  }
  out.expected.throughput = out.expected.period > 0 ? 1 / out.expected.period : infinity;
  return out;
}

}  // namespace dice::cost
