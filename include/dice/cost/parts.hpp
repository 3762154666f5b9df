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

/// How much of its layer's result a step computes.
constexpr double fraction(const schedule::step& s, const graph::network_view& net) {
  const auto& all = net.layers[s.layer].output;
  if (s.part == tensor::whole(all)) return 1;
  return static_cast<double>(tensor::elements(s.part, all)) / static_cast<double>(all.elements());
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

namespace detail {

/// Which replica computes which frame, as expected: with first_free, the one that then ends first.
class expected_turns {
 public:
  /// `seconds` of the plan's groups.
  constexpr expected_turns(const parts::parts_view& p, const schedule::plan_view& plan, const meta::array<double>& seconds)
      : plan_(plan), now_(static_cast<int>(plan.replicas.size())), first_(now_.size()) {
    for (std::size_t i = 0; i < plan.replicas.size(); ++i) {
      first_[static_cast<int>(i)] = each_.size();
      for (int m = 0; m < plan.replicas[i].members; ++m) each_.push_back(0), done_.push_back(0);
    }
    if (each_.empty()) return;
    meta::array<int> rank(each_.size());
    meta::array<double> always(static_cast<int>(plan.ranks.size()));
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      const auto& group = plan.groups[g];
      const double time = seconds[static_cast<int>(g)];
      const auto& when = p.parts[static_cast<std::size_t>(group.anchor)].when;
      if (when.always()) always[group.rank] += time;
      else each_[first_[when.set] + when.member] += time, rank[first_[when.set] + when.member] = group.rank;
    }
    for (int m = 0; m < each_.size(); ++m) other_.push_back(always[rank[m]]);
  }
  constexpr void begin(int frame) {
    for (std::size_t i = 0; i < plan_.replicas.size(); ++i) {
      const auto& set = plan_.replicas[i];
      auto& now = now_[static_cast<int>(i)];
      if (set.decides < 0) {
        now = parts::member_of(set, plan_.members.data(), frame);
        continue;
      }
      const int at = first_[static_cast<int>(i)];
      for (int m = 0; m < set.members; ++m) done_[at + m] += other_[at + m];
      now = 0;
      for (int m = 1; m < set.members; ++m)
        if (done_[at + m] + each_[at + m] < done_[at + now] + each_[at + now]) now = m;
      done_[at + now] += each_[at + now];
    }
  }
  constexpr bool includes(const parts::turn& t) const { return t.always() || now_[t.set] == t.member; }
  /// Frames after which all turns have come about as often as they should.
  constexpr int frames() const {
    std::int64_t out = 1;
    for (const auto& set : plan_.replicas) {
      std::int64_t sum = 0;
      for (int m = 0; m < set.members; ++m) sum += plan_.members[static_cast<std::size_t>(set.first + m)].share;
      out = std::max(out, set.decides < 0 ? sum : std::int64_t{8} * set.members);
    }
    return static_cast<int>(std::min<std::int64_t>(out, 64));
  }

 private:
  const schedule::plan_view& plan_;
  meta::array<int> now_, first_;             ///< by set: the member whose turn it is; the first member below
  meta::array<double> each_, other_, done_;  ///< by member, s: for its frames; for every frame; for all so far
};

}  // namespace detail

/// The prediction for the plan `plan` of the network of parts `p`, whose whole layers `s` describes. Latency: each rank does
/// its steps in order, a message arrives when its link has carried it after it was sent; period: the busiest rank or link.
/// With replicas both are means over several frames.
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
  meta::array<double> link_busy(n * n);
  detail::expected_turns turns(p, plan, out.groups);
  const int frames = turns.frames();
  for (int frame = 0; frame < frames; ++frame) {
    turns.begin(frame);
    meta::array<double> arrival(static_cast<int>(plan.messages.size()), -1), clock(n), carried(n * n);
    meta::array<int> next(n);
    for (int r = 0; r < n; ++r) next[r] = plan.ranks[static_cast<std::size_t>(r)].first_step;
    for (bool moved = true; moved;) {
      moved = false;
      for (int r = 0; r < n; ++r)
        for (; next[r] < plan.ranks[static_cast<std::size_t>(r)].last_step; ++next[r], moved = true) {
          const auto& step = plan.steps[static_cast<std::size_t>(next[r])];
          if (step.what == schedule::action::compute && plan.replicas.size() > 0 &&
              !turns.includes(p.parts[static_cast<std::size_t>(step.layer)].when))
            continue;
          if (step.what == schedule::action::compute) {
            const double t = out.groups[step.group] * detail::fraction(step, p.net);
            clock[r] += t, out.ranks[r].computing += t;
          } else if (step.what == schedule::action::send || step.what == schedule::action::receive) {
            const auto& m = plan.messages[static_cast<std::size_t>(step.message)];
            if (!turns.includes(m.made) || !turns.includes(m.read)) continue;
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
              link_busy[m.from * n + m.to] += by.time(m.bytes, 1);
            } else {
              clock[r] = std::max(clock[r], arrival[step.message]) + t;
            }
          }
        }
    }
    double latency = 0;
    for (const auto t : clock) latency = std::max(latency, t);
    out.expected.latency += latency / frames;
  }
  for (const auto busy : link_busy) out.expected.period = std::max(out.expected.period, busy / frames);
  for (int r = 0; r < n; ++r) {
    out.ranks[r].computing /= frames, out.ranks[r].messages /= frames;
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
