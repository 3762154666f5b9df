// Predictions for plans: one frame, step by step on all ranks.
#pragma once

#include "dice/cost/part_time.hpp"
#include "dice/cost/setting.hpp"
#include "dice/cost/time.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/parts/part.hpp"
#include "dice/platform/cluster.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dice::cost {

/// What a rank does in one frame, in s.
struct rank_time {
  double computing = 0, messages = 0;
  std::int64_t memory = 0;  ///< bytes that it needs
  constexpr double busy() const { return computing + messages; }
};

/// What a simulated frame took.
struct simulated {
  prediction expected{};
  meta::array<rank_time> ranks;
  meta::array<double> groups;  ///< s, by fusion group
  meta::array<double> ports;   ///< s, by host: how long the busier direction of its port carries messages for a frame
};

namespace detail {

/// The first processor that a rank uses.
constexpr std::size_t processor_of(const setting& s, const placed_rank& rank) {
  const auto& host = s.cluster.hosts[rank.on_host];
  for (int k = 0; k < host.processors; ++k) {
    const auto at = static_cast<std::size_t>(host.first_processor + k);
    if (share_of(s.cluster, at, rank) > 0) return at;
  }
  return 0;
}

/// Time in s in which a rank copies so many bytes: it reads and writes them.
constexpr double copy_seconds(const platform::processor_info& on, std::int64_t bytes) {
  constexpr double unknown = 5e9;  // a profile without the speed of copies
  return 2 * static_cast<double>(bytes) / (on.bytes_per_s > 0 ? on.bytes_per_s : unknown);
}

/// Bytes that layer l of a network of parts copies as step `step` of a plan, in which some operands may lie in place.
constexpr std::int64_t copied_bytes(const graph::network_view& net, const schedule::plan_view& plan,
                                    const schedule::step& step, int l) {
  const auto& layer = net.layers[l];
  const auto size = tensor::bytes(layer.output, step.output.layout);
  if (layer.edges < 2 || step.operands != layer.edges) return size;
  std::int64_t out = 0;
  for (int k = 0; k < step.operands; ++k) {
    const auto& at = plan.operands[step.first_operand + k];
    const bool in_place =
        at.where == step.output.where && at.offset >= step.output.offset && at.offset < step.output.offset + size;
    if (!in_place) out += net.layers[net.into(l)[k].from].output.bytes();
  }
  return out;
}

/// How much of its layer's result a step computes.
constexpr double fraction(const schedule::step& s, const graph::network_view& net) {
  const auto& all = net.layers[s.layer].output;
  if (s.part == tensor::whole(all)) return 1;
  return static_cast<double>(tensor::elements(s.part, all)) / static_cast<double>(all.elements());
}

/// Time in s of a step that computes a fusion group, or a region of its result, on a rank.
constexpr double group_seconds(const setting& s, const parts::parts_view& p, const schedule::plan_view& plan,
                               const schedule::step& step, const placed_rank& rank) {
  const auto& group = plan.groups[step.group];
  const int l = group.anchor;
  const auto at = processor_of(s, rank);
  const auto& about = s.cluster.processors[at];
  if (!p.is_own(l)) return p.net.layers[l].view >= 0 ? 0 : copy_seconds(about, copied_bytes(p.net, plan, step, l));
  const int whole = p.whole(l);
  const double t = seconds_on(s, rank, whole);
  // A layer that the profile counts with an earlier one runs unfused if the two are split apart.
  if (t <= 0) return copy_seconds(about, moved_bytes(p.net, l) / 2) * fraction(step, p.net);
  if (p.parts.empty()) return t;
  const auto &layer = p.net.layers[l], &all = s.net.layers[whole];
  const double products = all.macs > 0 ? static_cast<double>(layer.macs) / static_cast<double>(all.macs)
                                       : static_cast<double>(layer.output.elements()) /
                                             static_cast<double>(std::max<std::int64_t>(all.output.elements(), 1));
  const part_of_layer part{.box = p.parts[l].box,
                           .share = products,
                           .weight_bytes = group.weight_bytes > 0 ? group.weight_bytes : layer.parameter_bytes,
                           .tile = group.tile};
  return t * time_fraction(part, all, s.algorithms[at][whole], about) * fraction(step, p.net);
}

/// When messages arrive. Those that a host sends over the network follow one another, and so do those that it receives: each
/// host has one port. Messages within a host pass by themselves.
class wires {
 public:
  constexpr explicit wires(int hosts) : out_(hosts), in_(hosts), busy_out_(hosts), busy_in_(hosts) {}

  constexpr void begin_frame() {
    for (auto& t : out_) t = 0;
    for (auto& t : in_) t = 0;
  }
  /// When a message sent at `now` arrives. Calls must be in order of time. `ends`: the longer of the times in s that its
  /// bytes take from the cores at both ends; if these slow it down, the ports could carry other messages meanwhile.
  constexpr double arrival(const platform::link& by, int from, int to, std::int64_t bytes, double now, double ends) {
    if (by.within_host) return now + by.time(bytes, 1);
    const double passes = by.time(bytes, 0), held = passes > 1.1 * ends ? passes : 0;
    busy_out_[from] += held + by.seconds;
    busy_in_[to] += held + by.seconds;
    const double begin = std::max(out_[from], now);
    out_[from] = begin + held;
    in_[to] = std::max(in_[to], begin) + held;
    return std::max(begin + passes, in_[to]) + by.seconds;
  }
  /// Seconds of all messages so far that pass a host's port, in the busier direction; and those of the busiest port.
  constexpr double busy(int host) const { return std::max(busy_out_[host], busy_in_[host]); }
  constexpr double busiest() const {
    double out = 0;
    for (int h = 0; h < busy_out_.size(); ++h) out = std::max(out, busy(h));
    return out;
  }

 private:
  meta::array<double> out_, in_;            ///< by host: since when its port is free
  meta::array<double> busy_out_, busy_in_;  ///< by host
};

/// Which replica is expected to compute which frame: with first_free, the one that would finish it first.
class expected_turns {
 public:
  /// `seconds` of the plan's groups.
  constexpr expected_turns(const parts::parts_view& p, const schedule::plan_view& plan, const meta::array<double>& seconds)
      : plan_(plan), now_(static_cast<int>(plan.replicas.size())), first_(now_.size()) {
    for (std::size_t i = 0; i < plan.replicas.size(); ++i) {
      first_[static_cast<int>(i)] = each_.size();
      for (int m = 0; m < plan.replicas[i].members; ++m) {
        each_.push_back(0);
        done_.push_back(0);
      }
    }
    if (each_.empty()) return;
    meta::array<int> rank(each_.size());
    meta::array<double> always(static_cast<int>(plan.ranks.size()));
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      const auto& group = plan.groups[g];
      const double time = seconds[static_cast<int>(g)];
      const auto& when = p.parts[group.anchor].when;
      if (when.always()) always[group.rank] += time;
      else {
        each_[first_[when.set] + when.member] += time;
        rank[first_[when.set] + when.member] = group.rank;
      }
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
  /// The number of frames after which all turns have come about as often as they should.
  constexpr int frames() const {
    std::int64_t out = 1;
    for (const auto& set : plan_.replicas) {
      std::int64_t sum = 0;
      for (int m = 0; m < set.members; ++m) sum += plan_.members[set.first + m].share;
      out = std::max(out, set.decides < 0 ? sum : std::int64_t{8} * set.members);
    }
    return static_cast<int>(std::min<std::int64_t>(out, 128));
  }

 private:
  const schedule::plan_view& plan_;
  meta::array<int> now_, first_;             ///< by set: the member whose turn it is; the first member below
  meta::array<double> each_, other_, done_;  ///< by member, s: for its frames; for every frame; for all so far
};

}  // namespace detail

/// Simulates the plan `plan` of `p`, which is the network that `s` describes or its network of parts. Latency: each rank
/// does its steps in order, a message arrives when the ports of both hosts have carried it after it was sent; period: the
/// busiest rank or port. With replicas both are means over several frames. No paper that dice follows has equations for
/// this: DeepThings (Zhao et al. 2018) measures its tiles.
constexpr simulated simulate(const setting& s, const parts::parts_view& p, const schedule::plan_view& plan,
                             std::span<const placed_rank> ranks) {
  using schedule::action;
  simulated out;
  const int n = static_cast<int>(ranks.size());
  out.ranks = meta::array<rank_time>(n);
  out.groups = meta::array<double>(static_cast<int>(plan.groups.size()));
  meta::array<double> seconds(static_cast<int>(plan.steps.size()));  // of steps that compute
  meta::array<std::size_t> processors;                               // by rank
  for (int r = 0; r < n; ++r) {
    const auto& rank = ranks[r];
    const auto& program = plan.ranks[r];
    processors.push_back(detail::processor_of(s, rank));
    for (int i = program.first_step; i < program.last_step; ++i) {
      const auto& step = plan.steps[i];
      if (step.what == action::compute) out.groups[step.group] += seconds[i] = detail::group_seconds(s, p, plan, step, rank);
    }
  }

  const auto link = [&](const schedule::message& m) -> const platform::link& {
    return s.cluster.between(ranks[m.from].on_host, ranks[m.to].on_host);
  };
  /// Time in s that the bytes of a message, and `messages` messages, take from the core of a rank that sends or receives it.
  const auto handling = [&](const schedule::message& m, bool sends, int messages) {
    const auto& about = s.cluster.processors[processors[sends ? m.from : m.to]];
    const auto& own = sends ? about.sending : about.receiving;
    return link(m).within_host || own.bytes_per_s <= 0 ? 0 : own.time(m.bytes, messages);
  };
  detail::wires wires(s.cluster.size());
  detail::expected_turns turns(p, plan, out.groups);
  const int frames = turns.frames();
  for (int frame = 0; frame < frames; ++frame) {
    turns.begin(frame);
    wires.begin_frame();
    double latency = 0;  // until the last result leaves
    meta::array<double> arrival(static_cast<int>(plan.messages.size()), -1), clock(n);
    meta::array<int> next(n);
    for (int r = 0; r < n; ++r) next[r] = plan.ranks[r].first_step;
    const auto carried = [&](int m) {
      const auto& about = plan.messages[m];
      return turns.includes(about.made) && turns.includes(about.read);
    };
    const auto waits = [&](int r) {
      if (next[r] >= plan.ranks[r].last_step) return true;
      const auto& step = plan.steps[next[r]];
      return step.what == action::receive && arrival[step.message] < 0 && carried(step.message);
    };
    const auto sends = [&](int r) { return plan.steps[next[r]].what == action::send; };
    for (;;) {
      // The rank that is furthest behind, so that messages are sent in the order of time.
      int r = -1;
      for (int k = 0; k < n; ++k)
        if (!waits(k) && (r < 0 || clock[k] < clock[r])) r = k;
      if (r < 0) break;
      do {
        const auto& step = plan.steps[next[r]];
        if (step.what == action::compute) {
          const bool mine = plan.replicas.empty() || turns.includes(p.parts[step.layer].when);
          if (mine) {
            clock[r] += seconds[next[r]];
            out.ranks[r].computing += seconds[next[r]];
          }
        } else if ((step.what == action::send || step.what == action::receive) && carried(step.message)) {
          const auto& m = plan.messages[step.message];
          const double t = handling(m, step.what == action::send, 1);
          out.ranks[r].messages += t;
          if (step.what == action::send) {
            arrival[step.message] = wires.arrival(link(m), ranks[m.from].on_host, ranks[m.to].on_host, m.bytes, clock[r],
                                                  std::max(handling(m, true, 0), handling(m, false, 0)));
            clock[r] += t;
          } else {
            // A rank that has waited handles the message while it arrives: the link's time was measured end to end.
            clock[r] = std::max(clock[r] + t, arrival[step.message]);
          }
        }
        if (step.what == action::leave) latency = std::max(latency, clock[r]);
        ++next[r];
      } while (!waits(r) && !sends(r));
    }
    out.expected.latency += latency / frames;
  }
  for (int h = 0; h < s.cluster.size(); ++h) out.ports.push_back(wires.busy(h) / frames);
  out.expected.period = wires.busiest() / frames;
  for (int r = 0; r < n; ++r) {
    out.ranks[r].computing /= frames;
    out.ranks[r].messages /= frames;
    out.ranks[r].memory = plan.ranks[r].peak_bytes;
    out.expected.period = std::max(out.expected.period, out.ranks[r].busy());
    out.expected.memory = std::max(out.expected.memory, plan.ranks[r].peak_bytes);
  }
  for (int r = 0; r < n; ++r) {
    const auto& about = s.cluster.processors[processors[r]];
    const double busy = out.ranks[r].busy();
    out.expected.energy += about.busy_watts * busy + about.idle_watts * (out.expected.period - busy);
  }
  out.expected.throughput = out.expected.period > 0 ? 1 / out.expected.period : infinity;
  return out;
}

}  // namespace dice::cost
