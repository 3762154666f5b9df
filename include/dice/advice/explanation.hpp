// --explain: why a run is as fast as it is. What was measured of every stage and link beside what was predicted, what
// limits, and what would be faster.
#pragma once

#include "dice/advice/assessment.hpp"
#include "dice/report/names.hpp"
#include "dice/report/seen.hpp"
#include "dice/runtime/program.hpp"
#include "dice/text/json.hpp"
#include "dice/text/table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace dice::advice {

namespace detail {

/// A rank that is idle for less than the first part of the period limits, else a link that is busy for more than the second.
inline constexpr double little_idle = 0.1, most_busy = 0.85;

inline std::string rank_at(const report::seen_run& run, int rank) {
  return "rank " + std::to_string(rank) + " on " + run.hosts[static_cast<std::size_t>(rank)];
}
inline std::string share_text(double of) { return text::number_text(std::clamp(of, 0.0, 1.0) * 100, "%.0f %%"); }

/// Whether messages were sent or seen late, by a rank that is never idle and looks for them between layers.
inline bool seen_late(const report::seen_run& run, const report::seen_link& l) {
  return std::min(run.idle[static_cast<std::size_t>(l.from)], run.idle[static_cast<std::size_t>(l.to)]) < little_idle;
}

[[gnu::cold]] inline std::string limit_text(const runtime::program& p, const report::seen_run& run) {
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
inline double expected_of(const predicted_costs& f, const report::seen_stage& s) {
  double out = 0;
  for (const auto g : s.groups) out += f.group_seconds[g];
  return out;
}
inline double expected_of(const predicted_costs& f, const runtime::program& p, const report::seen_link& l) {
  return f.links[static_cast<std::size_t>(l.from * p.ranks() + l.to)].time(l.bytes, l.messages);
}
/// What rank r does when it neither computes nor waits: it sees to messages, and frames that enter or leave. In s a frame.
inline double other_seconds(const report::seen_run& run, std::size_t r) {
  return std::max(run.period * (1 - run.idle[r]) - run.busy[r], 0.0);
}

}  // namespace detail

/// The page; `f` may be null.
[[gnu::cold]] inline std::string explained_text(const runtime::program& p, const report::seen_run& run,
                                                const assessment* f) {
  const predicted_costs expected = f ? f->expected : predicted_costs{};
  const auto ms = [](double seconds) { return text::number_text(seconds * 1e3, "%.3f"); };
  std::vector<std::vector<std::string>> lines{{"", "predicted ms", "measured ms", "of the period"}};
  const auto add = [&](const std::string& what, double foreseen, double seconds, const char* at_most = "") {
    lines.push_back({what, f ? ms(foreseen) : "", at_most + ms(seconds),
                     at_most + text::number_text(seconds / run.period * 100, "%.0f %%")});
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
      add("  handling messages and frames", f ? expected.message_seconds[r] : 0, detail::other_seconds(run, r));
    for (const auto& l : run.links)
      if (first_of_rank && l.from == s.rank)
        add("  messages to " + detail::rank_at(run, l.to) + ", " + text::bytes_text(l.bytes),
            f ? detail::expected_of(expected, p, l) : 0, l.seconds, detail::seen_late(run, l) ? "≤ " : "");
  }
  for (const auto& l : run.links)  // of ranks that compute nothing
    if (std::none_of(run.stages.begin(), run.stages.end(), [&](const auto& s) { return s.rank == l.from; }))
      add("messages from " + detail::rank_at(run, l.from) + " to " + detail::rank_at(run, l.to) + ", " +
              text::bytes_text(l.bytes),
          f ? detail::expected_of(expected, p, l) : 0, l.seconds, detail::seen_late(run, l) ? "≤ " : "");
  if (!f)
    for (auto& line : lines) line.erase(line.begin() + 1);
  std::string out = text::table_text(lines, 1);
  auto told = run.frames;
  for (const auto& l : run.links) told = std::min(told, l.frames);
  if (told < run.frames)
    out += "Messages: those of " + std::to_string(told) + " of the " + std::to_string(run.frames) +
           " frames; of more no times are kept.\n";
  out += "\n" + text::number_text(1 / run.period, "%.4g frames/s") +
         (f ? text::number_text(expected.expected.throughput, ", %.4g predicted") : "") +
         text::number_text(run.latency * 1e3, "; %.4g ms from a frame's entry to its results") +
         (f ? text::number_text(expected.expected.latency * 1e3, ", %.4g predicted for one that is alone") : "") +
         "\nIdle: ";
  for (std::size_t r = 0; r < run.busy.size(); ++r)
    out += (r ? ", " : "") + detail::rank_at(run, static_cast<int>(r)) + " " + detail::share_text(run.idle[r]);
  out += ".\n" + detail::limit_text(p, run) + "\n";
  return out +
         (f ? f->advice
            : "This program knows no cluster: with one as the third argument of dice::main, times are predicted, and better "
              "mappings found.\n");
}

/// The same as a member of a JSON object.
[[gnu::cold]] inline std::string explained_json(const runtime::program& p, const report::seen_run& run,
                                                const assessment* f) {
  const predicted_costs expected = f ? f->expected : predicted_costs{};
  const auto seconds = [](const char* name, double s) { return std::string(", \"") + name + "\": " + text::json_number(s); };
  std::string out = "\"explained\": {\"period_s\": " + text::json_number(run.period) + seconds("latency_s", run.latency);
  if (f)
    out +=
        seconds("predicted_period_s", expected.expected.period) + seconds("predicted_latency_s", expected.expected.latency);
  out += ",\n  \"stages\": [";
  for (const auto& s : run.stages) {
    out += (&s == &run.stages.front() ? "\n   " : ",\n   ") + ("{\"rank\": " + std::to_string(s.rank)) +
           ", \"host\": " + text::json_string(run.hosts[static_cast<std::size_t>(s.rank)]) + ", \"layers\": [";
    for (std::size_t k = 0; k < s.groups.size(); ++k)
      out += (k ? ", " : "") + text::json_string(report::group_text(p, s.groups[k]));
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
    for (std::size_t r = 0; r < run.busy.size(); ++r) out += (r ? ", " : "") + text::json_number(of(r));
  };
  by_rank([&](auto r) { return run.idle[r]; });
  out += "],\n  \"other_s\": [";
  by_rank([&](auto r) { return detail::other_seconds(run, r); });
  if (f) {
    out += "],\n  \"predicted_message_s\": [";
    by_rank([&](auto r) { return expected.message_seconds[r]; });
  }
  return out + "],\n  \"limit\": " + text::json_string(detail::limit_text(p, run)) +
         (f ? ",\n  " + f->advice_json : std::string()) + "}";
}

}  // namespace dice::advice
