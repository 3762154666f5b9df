// A run as it was measured: the time of each stage and link for a frame.
#pragma once

#include "dice/job/clock_shift.hpp"
#include "dice/job/record.hpp"
#include "dice/meta/median.hpp"
#include "dice/report/profile.hpp"
#include "dice/report/summary.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/recorder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dice::report {

/// Consecutive groups on one rank.
struct seen_stage {
  int rank = 0;
  std::vector<std::size_t> groups;
  double seconds = 0;  ///< measured, for a frame
};
/// All messages of a frame from one rank to another.
struct seen_link {
  int from = 0, to = 0, messages = 0;
  std::int64_t bytes = 0;
  double seconds = 0;       ///< measured, for a frame
  std::int64_t frames = 0;  ///< of which all messages were recorded
};
/// Why a rank had no core, as shares of the run's time.
struct core_loss {
  double waited = 0;                    ///< a thread was ready to run, but had no core
  double stolen = 0;                    ///< the hypervisor ran others
  double throttled = 0;                 ///< a control group's quota stopped threads: of all cores together
  double others = 0;                    ///< cores that other programs used, of its own
  std::int64_t threads = 0, cores = 0;  ///< of all ranks of this job that may use its cores; its cores
};
/// A run as it was measured.
struct seen_run {
  std::vector<seen_stage> stages;
  std::vector<seen_link> links;
  std::vector<double> busy;   ///< by rank: s of computing for a frame
  std::vector<double> idle;   ///< by rank: the share of the time in which it waits
  std::vector<double> input;  ///< by rank: s of reading and converting a frame
  std::vector<std::string> hosts;
  std::vector<core_loss> lost;     ///< by rank
  double period = 0, latency = 0;  ///< s a frame; the median
  std::int64_t frames = 0;
  int in_flight = 1;
};

/// A rank's message events, for all_gather, in the time of rank 0's clock.
inline std::string message_events_part(const runtime::recorder& r, const job::clock_shift& clock) {
  std::vector<std::int64_t> out;
  for (const auto& e : r.message_events())
    out.insert(out.end(), {static_cast<std::int64_t>(e.is), e.what, e.frame, clock(e.begin)});
  job::record all;
  all.put(out);
  return all.text();
}

namespace detail {

/// The time of each link for a frame: the median of all frames. Messages between two ranks pass one after the other, once
/// they are sent and the receiver has room for them. So the time of each begins then, or when the one before it arrives, and
/// ends when it arrives itself.
[[gnu::cold]] inline std::vector<seen_link> links_of(const runtime::program& p, const std::vector<std::string>& parts) {
  using kind = runtime::recorder::kind;
  struct transit {
    std::int64_t begun = 0, arrived = 0;
    bool sent = false;
    std::size_t frame = 0;
  };
  std::vector<std::vector<std::int64_t>> events;
  std::size_t frames = 0;
  for (const auto& part : parts) {
    events.push_back(job::record(part).get_numbers());
    for (std::size_t k = 0; k + 3 < events.back().size(); k += 4)
      frames = std::max(frames, static_cast<std::size_t>(events.back()[k + 2]) + 1);
  }
  std::vector<transit> transits(p.plan.messages.size() * frames);  // by message and frame
  for (const auto& numbers : events)
    for (std::size_t k = 0; k + 3 < numbers.size(); k += 4) {
      const auto is = static_cast<kind>(numbers[k]);
      const auto frame = static_cast<std::size_t>(numbers[k + 2]);
      auto& at = transits[static_cast<std::size_t>(numbers[k + 1]) * frames + frame];
      at.frame = frame;
      if (is == kind::receive) at.arrived = numbers[k + 3];
      else at.begun = at.begun == 0 ? numbers[k + 3] : std::max(at.begun, numbers[k + 3]);
      at.sent = at.sent || is == kind::send;
    }
  std::vector<seen_link> out;
  for (const auto& m : p.plan.messages) {
    auto same = std::find_if(out.begin(), out.end(), [&](const auto& l) { return l.from == m.from && l.to == m.to; });
    if (same == out.end()) same = out.insert(out.end(), {m.from, m.to});
    ++same->messages;
    same->bytes += m.bytes;
  }
  for (auto& l : out) {
    std::vector<transit> line;
    for (std::size_t m = 0; m < p.plan.messages.size(); ++m)
      if (p.plan.messages[m].from == l.from && p.plan.messages[m].to == l.to)
        for (std::size_t f = 0; f < frames; ++f)
          if (const auto& at = transits[m * frames + f]; at.sent && at.arrived != 0) line.push_back(at);
    std::sort(line.begin(), line.end(), [](const auto& x, const auto& y) { return x.begun < y.begun; });
    std::vector<double> of_frame(frames), whole;
    std::vector<int> seen(frames);  // messages; a full recorder keeps no more
    std::int64_t before = INT64_MIN;
    for (const auto& at : line) {
      of_frame[at.frame] += static_cast<double>(std::max<std::int64_t>(at.arrived - std::max(at.begun, before), 0));
      before = std::max(before, at.arrived);
      ++seen[at.frame];
    }
    for (std::size_t f = 0; f < frames; ++f)
      if (seen[f] == l.messages) whole.push_back(of_frame[f]);
    l.frames = static_cast<std::int64_t>(whole.size());
    if (!whole.empty()) l.seconds = meta::median(std::move(whole)) * 1e-9;
  }
  return out;
}

}  // namespace detail

/// The run, from what all ranks report.
[[gnu::cold]] inline seen_run seen(const runtime::program& p, const summary& r, const std::vector<rank_profile>& profiles,
                                   const std::vector<std::string>& message_events, int in_flight) {
  seen_run out;
  out.links = detail::links_of(p, message_events);
  out.frames = r.frames;
  out.in_flight = in_flight;
  out.period = r.frames > 0 ? r.seconds / static_cast<double>(r.frames) : 0;
  out.latency = r.latency(0.5) * 1e-3;
  for (const auto& rank : r.ranks) {
    out.busy.push_back(rank.compute_ms * 1e-3);
    out.input.push_back(rank.input_ms * 1e-3);
    out.hosts.push_back(rank.host);
    // In a run of few frames, waits before the first and after the last one count for much. A rank that computes does not
    // wait.
    const double left = std::max(out.period - out.busy.back(), 0.0);
    out.idle.push_back(out.period > 0 ? std::min(rank.wait_ms * 1e-3, left) / out.period : 0);
  }
  for (const auto& rank : r.ranks) {
    auto& lost = out.lost.emplace_back();
    lost.cores = static_cast<std::int64_t>(rank.cores.cores.size());
    for (const auto& other : r.ranks)
      if (detail::shared_cores(rank, other) > 0) lost.threads += other.cores.threads;
    if (rank.cores.time <= 0) continue;
    const auto share = [&](std::int64_t ns) { return static_cast<double>(ns) / static_cast<double>(rank.cores.time); };
    // Threads that wait for messages may wait for a core, too, and lose nothing.
    const double computes = 1 - out.idle[out.lost.size() - 1];
    lost.waited = std::min(share(rank.cores.waited), computes);
    lost.stolen = share(rank.cores.stolen);
    lost.throttled = share(rank.cores.throttled);
    lost.others = share(rank.of_others);
  }
  std::vector<double> seconds(p.plan.groups.size());
  for (std::size_t k = 0; k < profiles.size(); ++k)
    for (const auto& g : profiles[k].groups) seconds[g.group] = g.share * out.busy[k];
  std::vector<std::size_t> order(p.plan.groups.size());
  for (std::size_t g = 0; g < order.size(); ++g) order[g] = g;
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return p.plan.groups[a].output() < p.plan.groups[b].output(); });
  for (const auto g : order) {
    const int rank = p.plan.groups[g].rank;
    if (out.stages.empty() || out.stages.back().rank != rank) out.stages.push_back({rank, {}, 0});
    out.stages.back().groups.push_back(g);
    out.stages.back().seconds += seconds[g];
  }
  return out;
}

}  // namespace dice::report
