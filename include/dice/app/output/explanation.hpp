// --explain: why a run is as fast as it is. What was measured of every stage and link beside what was predicted, what
// limits, and what would be faster.
#pragma once

#include "dice/app/clock_shift.hpp"
#include "dice/app/outlook.hpp"
#include "dice/app/output/json.hpp"
#include "dice/app/output/plan.hpp"
#include "dice/app/output/profile.hpp"
#include "dice/app/output/report.hpp"
#include "dice/app/record.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/recorder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// Groups in a row on one rank.
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
  std::int64_t frames = 0;  ///< in which all of them were seen
};
/// A run as it was measured.
struct seen_run {
  std::vector<seen_stage> stages;
  std::vector<seen_link> links;
  std::vector<double> busy;  ///< by rank: s of computing for a frame
  std::vector<double> idle;  ///< by rank: the part of the time in which it waits
  std::vector<std::string> hosts;
  double period = 0, latency = 0;  ///< s a frame; the median
  std::int64_t frames = 0;
  int in_flight = 1;
};

/// What a rank did for messages, for all_gather. Its times become those of rank 0's clock.
inline std::string passages_part(const runtime::recorder& r, const clock_shift& clock) {
  std::vector<std::int64_t> out;
  for (const auto& e : r.passages())
    out.insert(out.end(), {static_cast<std::int64_t>(e.is), e.what, e.frame, clock(e.begin)});
  record all;
  all.put(out);
  return all.text();
}

namespace detail {

/// What each link takes for a frame: messages between two ranks pass one after the other, when they are sent and there is
/// room for them, so that each takes from then, or from the arrival of the one before, to its own arrival. The median of all
/// frames.
[[gnu::cold]] inline std::vector<seen_link> links_of(const runtime::program& p, const std::vector<std::string>& parts) {
  using kind = runtime::recorder::kind;
  struct passage {
    std::int64_t begun = 0, arrived = 0;
    bool sent = false;
    std::size_t frame = 0;
  };
  std::vector<std::vector<std::int64_t>> told;
  std::size_t frames = 0;
  for (const auto& part : parts) {
    told.push_back(record(part).get_numbers());
    for (std::size_t k = 0; k + 3 < told.back().size(); k += 4)
      frames = std::max(frames, static_cast<std::size_t>(told.back()[k + 2]) + 1);
  }
  std::vector<passage> passages(p.plan.messages.size() * frames);  // by message and frame
  for (const auto& numbers : told)
    for (std::size_t k = 0; k + 3 < numbers.size(); k += 4) {
      const auto is = static_cast<kind>(numbers[k]);
      const auto frame = static_cast<std::size_t>(numbers[k + 2]);
      auto& at = passages[static_cast<std::size_t>(numbers[k + 1]) * frames + frame];
      at.frame = frame;
      if (is == kind::receive) at.arrived = numbers[k + 3];
      else at.begun = at.begun == 0 ? numbers[k + 3] : std::max(at.begun, numbers[k + 3]);
      at.sent = at.sent || is == kind::send;
    }
  std::vector<seen_link> out;
  for (const auto& m : p.plan.messages) {
    auto same = std::find_if(out.begin(), out.end(), [&](const auto& l) { return l.from == m.from && l.to == m.to; });
    if (same == out.end()) same = out.insert(out.end(), {m.from, m.to});
    ++same->messages, same->bytes += m.bytes;
  }
  for (auto& l : out) {
    std::vector<passage> line;
    for (std::size_t m = 0; m < p.plan.messages.size(); ++m)
      if (p.plan.messages[m].from == l.from && p.plan.messages[m].to == l.to)
        for (std::size_t f = 0; f < frames; ++f)
          if (const auto& at = passages[m * frames + f]; at.sent && at.arrived != 0) line.push_back(at);
    std::sort(line.begin(), line.end(), [](const auto& x, const auto& y) { return x.begun < y.begun; });
    std::vector<double> of_frame(frames), whole;
    std::vector<int> seen(frames);  // messages; a recorder that is full knows no more
    std::int64_t before = INT64_MIN;
    for (const auto& at : line) {
      of_frame[at.frame] += static_cast<double>(std::max<std::int64_t>(at.arrived - std::max(at.begun, before), 0));
      before = std::max(before, at.arrived);
      ++seen[at.frame];
    }
    for (std::size_t f = 0; f < frames; ++f)
      if (seen[f] == l.messages) whole.push_back(of_frame[f]);
    l.frames = static_cast<std::int64_t>(whole.size());
    if (!whole.empty()) l.seconds = median(std::move(whole)) * 1e-9;
  }
  return out;
}

}  // namespace detail

/// What all ranks told of a run.
[[gnu::cold]] inline seen_run seen(const runtime::program& p, const report& r, const std::vector<rank_profile>& profiles,
                                   const std::vector<std::string>& passages, int in_flight) {
  seen_run out;
  out.links = detail::links_of(p, passages), out.frames = r.frames, out.in_flight = in_flight;
  out.period = r.frames > 0 ? r.seconds / static_cast<double>(r.frames) : 0;
  out.latency = r.latency(0.5) * 1e-3;
  for (const auto& rank : r.ranks) {
    out.busy.push_back(rank.compute_ms * 1e-3), out.hosts.push_back(rank.host);
    out.idle.push_back(out.period > 0 ? std::min(rank.wait_ms * 1e-3 / out.period, 1.0) : 0);
  }
  std::vector<double> seconds(p.plan.groups.size());
  for (std::size_t k = 0; k < profiles.size(); ++k)
    for (const auto& g : profiles[k].groups) seconds[static_cast<std::size_t>(g.group)] = g.share * out.busy[k];
  std::vector<std::size_t> order(p.plan.groups.size());
  for (std::size_t g = 0; g < order.size(); ++g) order[g] = g;
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return p.plan.groups[a].output() < p.plan.groups[b].output(); });
  for (const auto g : order) {
    const int rank = p.plan.groups[g].rank;
    if (out.stages.empty() || out.stages.back().rank != rank) out.stages.push_back({rank, {}, 0});
    out.stages.back().groups.push_back(g), out.stages.back().seconds += seconds[g];
  }
  return out;
}

namespace detail {

/// A rank that is idle for less than the first part of the period limits, else a link that is busy for more than the second.
inline constexpr double little_idle = 0.1, most_busy = 0.85;

inline std::string rank_at(const seen_run& run, int rank) {
  return "rank " + std::to_string(rank) + " on " + run.hosts[static_cast<std::size_t>(rank)];
}
inline std::string share_text(double of) { return number_text(std::clamp(of, 0.0, 1.0) * 100, "%.0f %%"); }

/// Whether messages were sent or seen late, by a rank that is never idle and looks for them between layers.
inline bool seen_late(const seen_run& run, const seen_link& l) {
  return std::min(run.idle[static_cast<std::size_t>(l.from)], run.idle[static_cast<std::size_t>(l.to)]) < little_idle;
}

[[gnu::cold]] inline std::string limit_text(const runtime::program& p, const seen_run& run) {
  const auto rank = std::min_element(run.idle.begin(), run.idle.end()) - run.idle.begin();
  const auto r = static_cast<std::size_t>(rank);
  const auto link = std::max_element(run.links.begin(), run.links.end(),
                                     [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  const double pass = link == run.links.end() ? 0 : link->seconds / run.period, computes = run.busy[r] / run.period;
  if (run.idle[r] < little_idle)
    return "What limits: " + rank_at(run, static_cast<int>(rank)) + ", which computes " + share_text(computes) +
           " of the time" +
           (computes < most_busy ? ", and hands on frames and messages for most of the rest." : std::string("."));
  if (pass > most_busy)
    return "What limits: messages from " + rank_at(run, link->from) + " to " + rank_at(run, link->to) +
           ", which are under way " + share_text(pass) + " of the time.";
  return "Nothing is busy all the time: frames wait for one another. " + std::to_string(run.in_flight) +
         " may be in flight; allow more with " +
         (run.in_flight < p.plan.in_flight ? "--in-flight"
                                           : "dice::in_flight<" + std::to_string(2 * run.in_flight) + "> in the mapping") +
         ", or give more of them with --frames.";
}

/// What is predicted of a stage and of a link, in s.
inline double expected_of(const foresight& f, const seen_stage& s) {
  double out = 0;
  for (const auto g : s.groups) out += f.group_seconds[g];
  return out;
}
inline double expected_of(const foresight& f, const runtime::program& p, const seen_link& l) {
  return f.links[static_cast<std::size_t>(l.from * p.ranks() + l.to)].time(l.bytes, l.messages);
}
/// What rank r does when it neither computes nor waits: it sees to messages, and frames that enter or leave. In s a frame.
inline double other_seconds(const seen_run& run, std::size_t r) {
  return std::max(run.period * (1 - run.idle[r]) - run.busy[r], 0.0);
}

}  // namespace detail

/// The page; `f` may be null.
[[gnu::cold]] inline std::string explained_text(const runtime::program& p, const seen_run& run, const outlook* f) {
  using detail::number_text;
  const foresight expected = f ? f->expected : foresight{};
  const auto ms = [](double seconds) { return number_text(seconds * 1e3, "%.3f"); };
  std::vector<std::vector<std::string>> lines{{"", "predicted ms", "measured ms", "of the period"}};
  const auto add = [&](const std::string& what, double foreseen, double seconds, const char* at_most = "") {
    lines.push_back(
        {what, f ? ms(foreseen) : "", at_most + ms(seconds), at_most + number_text(seconds / run.period * 100, "%.0f %%")});
  };
  const auto layer = [&](int l) { return std::string(p.layers.layers[static_cast<std::size_t>(l)].name); };
  for (const auto& s : run.stages) {
    const auto first = layer(p.plan.groups[s.groups.front()].anchor), last = layer(p.plan.groups[s.groups.back()].output());
    add(detail::rank_at(run, s.rank) + ": " + first + (s.groups.size() > 1 ? " … " + last : ""),
        f ? detail::expected_of(expected, s) : 0, s.seconds);
    const bool first_of_rank = std::none_of(run.stages.data(), &s, [&](const auto& other) { return other.rank == s.rank; });
    const auto r = static_cast<std::size_t>(s.rank);
    if (first_of_rank &&
        std::any_of(run.links.begin(), run.links.end(), [&](const auto& l) { return l.from == s.rank || l.to == s.rank; }))
      add("  seeing to messages and frames", f ? expected.message_seconds[r] : 0, detail::other_seconds(run, r));
    for (const auto& l : run.links)
      if (first_of_rank && l.from == s.rank)
        add("  messages to " + detail::rank_at(run, l.to) + ", " + detail::bytes_text(l.bytes),
            f ? detail::expected_of(expected, p, l) : 0, l.seconds, detail::seen_late(run, l) ? "≤ " : "");
  }
  for (const auto& l : run.links)  // of ranks that compute nothing
    if (std::none_of(run.stages.begin(), run.stages.end(), [&](const auto& s) { return s.rank == l.from; }))
      add("messages from " + detail::rank_at(run, l.from) + " to " + detail::rank_at(run, l.to) + ", " +
              detail::bytes_text(l.bytes),
          f ? detail::expected_of(expected, p, l) : 0, l.seconds, detail::seen_late(run, l) ? "≤ " : "");
  if (!f)
    for (auto& line : lines) line.erase(line.begin() + 1);
  std::string out = detail::table_text(lines, 1);
  auto told = run.frames;
  for (const auto& l : run.links) told = std::min(told, l.frames);
  if (told < run.frames)
    out += "Messages: those of " + std::to_string(told) + " of the " + std::to_string(run.frames) +
           " frames; of more no times are kept.\n";
  out += "\n" + number_text(1 / run.period, "%.4g frames/s") +
         (f ? number_text(expected.expected.throughput, ", %.4g predicted") : "") +
         number_text(run.latency * 1e3, "; %.4g ms from a frame's entry to its results") +
         (f ? number_text(expected.expected.latency * 1e3, ", %.4g predicted for one that is alone") : "") + "\nIdle: ";
  for (std::size_t r = 0; r < run.busy.size(); ++r)
    out += (r ? ", " : "") + detail::rank_at(run, static_cast<int>(r)) + " " + detail::share_text(run.idle[r]);
  out += ".\n" + detail::limit_text(p, run) + "\n";
  return out +
         (f ? f->advice
            : "This program knows no cluster: with one as the third argument of dice::main, times are predicted, and better "
              "mappings found.\n");
}

/// The same as a member of a JSON object.
[[gnu::cold]] inline std::string explained_json(const runtime::program& p, const seen_run& run, const outlook* f) {
  const foresight expected = f ? f->expected : foresight{};
  const auto seconds = [](const char* name, double s) { return std::string(", \"") + name + "\": " + json_number(s); };
  std::string out = "\"explained\": {\"period_s\": " + json_number(run.period) + seconds("latency_s", run.latency);
  if (f)
    out +=
        seconds("predicted_period_s", expected.expected.period) + seconds("predicted_latency_s", expected.expected.latency);
  out += ",\n  \"stages\": [";
  for (const auto& s : run.stages) {
    out += (&s == &run.stages.front() ? "\n   " : ",\n   ") + ("{\"rank\": " + std::to_string(s.rank)) +
           ", \"host\": " + json_string(run.hosts[static_cast<std::size_t>(s.rank)]) + ", \"layers\": [";
    for (std::size_t k = 0; k < s.groups.size(); ++k) out += (k ? ", " : "") + json_string(group_text(p, s.groups[k]));
    out +=
        "]" + seconds("measured_s", s.seconds) + (f ? seconds("predicted_s", detail::expected_of(expected, s)) : "") + "}";
  }
  out += "],\n  \"links\": [";
  for (const auto& l : run.links)
    out += (&l == &run.links.front() ? "\n   " : ",\n   ") + ("{\"from\": " + std::to_string(l.from)) +
           ", \"to\": " + std::to_string(l.to) + ", \"bytes\": " + std::to_string(l.bytes) +
           ", \"messages\": " + std::to_string(l.messages) + ", \"frames\": " + std::to_string(l.frames) +
           seconds("measured_s", l.seconds) + (f ? seconds("predicted_s", detail::expected_of(expected, p, l)) : "") + "}";
  out += "],\n  \"idle\": [";
  const auto by_rank = [&](auto of) {
    for (std::size_t r = 0; r < run.busy.size(); ++r) out += (r ? ", " : "") + json_number(of(r));
  };
  by_rank([&](auto r) { return run.idle[r]; });
  out += "],\n  \"other_s\": [";
  by_rank([&](auto r) { return detail::other_seconds(run, r); });
  if (f) {
    out += "],\n  \"predicted_message_s\": [";
    by_rank([&](auto r) { return expected.message_seconds[r]; });
  }
  return out + "],\n  \"limit\": " + json_string(detail::limit_text(p, run)) +
         (f ? ",\n  " + f->advice_json : std::string()) + "}";
}

}  // namespace dice::app
