// --explain: why a run is as fast as it is. For every stage and link the measured and the predicted time, the bottleneck,
// and which mapping would be faster.
#pragma once

#include "dice/advice/assessment.hpp"
#include "dice/channels/transports.hpp"
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

/// A rank that is idle for less than `little_idle` of the period is the bottleneck; otherwise, a link that is busy for more
/// than `max_busy` of it.
inline constexpr double little_idle = 0.1, max_busy = 0.85;

inline std::string rank_at(const report::seen_run& run, int rank) {
  return "rank " + std::to_string(rank) + " on " + run.hosts[rank];
}
inline std::string share_text(double of) { return text::number_text(std::clamp(of, 0.0, 1.0) * 100, "%.0f %%"); }

/// A gain of 0.15 is "15 % more than", one of 16 "17 times".
inline std::string gain_text(double gain) {
  return gain > 1 ? text::number_text(gain + 1, gain < 9 ? "%.1f times" : "%.0f times")
                  : text::number_text(gain * 100, "%.0f %% more than");
}

/// Whether messages may have been sent or seen late, because one of the ranks is never idle and handles them between layers.
inline bool seen_late(const report::seen_run& run, const report::seen_link& l) {
  return std::min(run.idle[l.from], run.idle[l.to]) < little_idle;
}

/// The page names a rank that lost more than this share of the time to others on its cores.
inline constexpr double little_loss = 0.05;
inline bool lost_cores(const report::core_loss& l) { return l.waited > little_loss || l.stolen > little_loss; }
inline bool lost_cores(const report::seen_run& run) {
  return std::any_of(run.lost.begin(), run.lost.end(), [](const auto& l) { return lost_cores(l); });
}

/// If a rank lost more than this share, its times may be more than a third too long, which is more than most mappings differ
/// by: they say little about the mapping.
inline constexpr double much_loss = 0.25;
inline double largest_loss(const report::seen_run& run) {
  double out = 0;
  for (const auto& l : run.lost) out = std::max(out, l.waited + l.stolen);
  return out;
}
inline bool lost_too_much(const report::seen_run& run) { return largest_loss(run) > much_loss; }

/// Who took the cores of a host, as far as is known, and what to do.
struct taker {
  std::string who;   ///< and where: one line is enough for each
  std::string does;  ///< the rest of the line
  double took = 0;   ///< how much
};
[[gnu::cold]] inline std::vector<taker> takers(const report::core_loss& l, const std::string& host) {
  std::vector<taker> out;
  const auto cores = std::to_string(l.cores) + (l.cores == 1 ? " core" : " cores");
  const auto& by = channels::usual_launcher();
  const auto own =
      "give the ranks cores of their own (" + std::string(by.name) + " " + std::string(by.bind) + ", dice::cores<…>)";
  if (l.stolen > little_loss)
    out.push_back({"The hypervisor of " + host,
                   " gave " + share_text(l.stolen) +
                       " of their time to other virtual machines: use a machine whose cores are not shared.",
                   l.stolen});
  if (!(l.waited > little_loss)) return out;
  const auto before = out.size();
  if (l.throttled > l.waited / 2)
    out.push_back({"A CPU quota on " + host,
                   " stopped the threads: raise it (docker run --cpus, systemd's CPUQuota), or start fewer threads "
                   "(OMP_NUM_THREADS, dice::threads<N>).",
                   0});
  if (l.threads > l.cores)
    out.push_back({"This job's own ranks have " + std::to_string(l.threads) + " threads on " + cores + " of " + host,
                   ": start fewer threads (OMP_NUM_THREADS, dice::threads<N>), use more cores or hosts, or " + own + ".",
                   0});
  if (l.others > l.waited / 2)
    out.push_back({"Other programs on " + host,
                   " used " + text::number_text(l.others, "%.1f") + " of " + cores + ": end them, or " + own + ".",
                   l.others});
  if (out.size() == before) out.push_back({"What took the cores on " + host, " is not known; top shows it.", 0});
  return out;
}

/// The time that others took from the ranks; "" if that is little.
[[gnu::cold]] inline std::string lost_text(const report::seen_run& run) {
  std::string out;
  std::vector<taker> all;  // for two ranks on one host, the larger loss
  for (std::size_t r = 0; r < run.lost.size(); ++r) {
    const auto& l = run.lost[r];
    if (!lost_cores(l)) continue;
    const auto rank = rank_at(run, static_cast<int>(r)), share = share_text(l.waited + l.stolen);
    out += out.empty() ? "Cores were taken: " + rank + " could have run, but had no core for " + share + " of the time"
                       : ", " + rank + " for " + share;
    for (const auto& t : takers(l, run.hosts[r])) {
      const auto same = std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.who == t.who; });
      if (same == all.end()) all.push_back(t);
      else if (same->took < t.took) *same = t;
    }
  }
  if (out.empty()) return out;
  out += lost_too_much(run) ? ". So the times below say little about the mapping; run it again when the cores are free.\n"
                            : ". The times below include this.\n";
  for (const auto& t : all) out += t.who + t.does + "\n";
  return out;
}

/// Seconds per frame in which rank r reads and converts frames.
inline double input_of(const report::seen_run& run, std::size_t r) { return r < run.input.size() ? run.input[r] : 0; }

[[gnu::cold]] inline std::string limit_text(const runtime::program& p, const report::seen_run& run) {
  if (lost_too_much(run)) return "What limits the speed is not known: ranks had no cores for too much of the time.";
  const auto r = static_cast<int>(std::min_element(run.idle.begin(), run.idle.end()) - run.idle.begin());
  const auto link = std::max_element(run.links.begin(), run.links.end(),
                                     [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  const double pass = link == run.links.end() ? 0 : link->seconds / run.period, computes = run.busy[r] / run.period;
  if (run.idle[r] < little_idle && input_of(run, static_cast<std::size_t>(r)) > run.busy[r])
    return "Bottleneck: " + rank_at(run, r) + ", which reads and converts frames " +
           share_text(input_of(run, static_cast<std::size_t>(r)) / run.period) +
           " of the time: give it smaller pictures, or frames that another program has converted.";
  if (run.idle[r] < little_idle)
    return "Bottleneck: " + rank_at(run, r) + ", which computes " + share_text(computes) + " of the time" +
           (computes < max_busy ? ", and handles messages and frames for most of the rest." : std::string("."));
  if (pass > max_busy)
    return "Bottleneck: messages from " + rank_at(run, link->from) + " to " + rank_at(run, link->to) +
           ", which are under way " + share_text(pass) + " of the time.";
  if (lost_cores(run)) return "No rank or link is busy all the time: they wait for cores.";
  return "No rank or link is busy all the time: frames wait for one another. " + std::to_string(run.in_flight) +
         " may be in flight; allow more with " +
         (run.in_flight < p.plan.in_flight ? "--in-flight"
                                           : "dice::in_flight<" + std::to_string(2 * run.in_flight) + "> in the mapping") +
         ", or run more of them with --frames.";
}

/// The predicted time of a stage and of a link, in s.
inline double expected_of(const predicted_costs& f, const report::seen_stage& s) {
  double out = 0;
  for (const auto g : s.groups) out += f.group_seconds[g];
  return out;
}
inline double expected_of(const predicted_costs& f, const runtime::program& p, const report::seen_link& l) {
  return f.links[l.from * p.ranks() + l.to].time(l.bytes, l.messages);
}
/// Seconds per frame in which rank r neither computes nor waits nor reads frames: it handles messages, and frames that enter
/// or leave.
inline double other_seconds(const report::seen_run& run, std::size_t r) {
  return std::max(run.period * (1 - run.idle[r]) - run.busy[r] - input_of(run, r), 0.0);
}

}  // namespace detail

/// The page; `f` may be null.
[[gnu::cold]] inline std::string explained_text(const runtime::program& p, const report::seen_run& run,
                                                const assessment* f) {
  const predicted_costs expected = f ? f->expected : predicted_costs{};
  const auto ms = [](double seconds) { return text::number_text(seconds * 1e3, "%.3f"); };
  std::vector<std::vector<std::string>> lines{{"", "predicted ms", "measured ms", "of the period"}};
  const auto add = [&](const std::string& what, double predicted, double seconds, const char* at_most = "") {
    lines.push_back({what, f ? ms(predicted) : "", at_most + ms(seconds),
                     at_most + text::number_text(seconds / run.period * 100, "%.0f %%")});
  };
  const auto layer = [&](int l) { return report::layer_name(p, l); };
  for (const auto& s : run.stages) {
    const auto first = layer(p.plan.groups[s.groups.front()].anchor), last = layer(p.plan.groups[s.groups.back()].output());
    add(detail::rank_at(run, s.rank) + ": " + first + (s.groups.size() > 1 ? " … " + last : ""),
        f ? detail::expected_of(expected, s) : 0, s.seconds);
    const bool first_of_rank = std::none_of(run.stages.data(), &s, [&](const auto& other) { return other.rank == s.rank; });
    const int r = s.rank;
    if (first_of_rank &&
        std::any_of(run.links.begin(), run.links.end(), [&](const auto& l) { return l.from == s.rank || l.to == s.rank; }))
      add("  handling messages and frames", f ? expected.message_seconds[r] : 0, detail::other_seconds(run, r));
    if (const double input = detail::input_of(run, static_cast<std::size_t>(r)); first_of_rank && input > run.period / 100)
      add("  reading and converting frames", 0, input);
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
  std::string out = detail::lost_text(run);
  if (!out.empty()) out += "\n";
  out += text::table_text(lines, 1);
  auto recorded = run.frames;
  for (const auto& l : run.links) recorded = std::min(recorded, l.frames);
  if (recorded < run.frames)
    out += "Message times cover " + std::to_string(recorded) + " of the " + std::to_string(run.frames) +
           " frames; no more are kept.\n";
  out += "\n" + text::number_text(1 / run.period, "%.4g frames/s") +
         (f ? text::number_text(expected.expected.throughput, ", %.4g predicted") : "") +
         text::number_text(run.latency * 1e3, "; %.4g ms from a frame's entry to its results") +
         (f ? text::number_text(expected.expected.latency * 1e3, ", %.4g predicted for a frame by itself") : "") +
         "\nIdle: ";
  for (std::size_t r = 0; r < run.busy.size(); ++r)
    out += (r ? ", " : "") + detail::rank_at(run, static_cast<int>(r)) + " " + detail::share_text(run.idle[r]);
  out += ".\n" + detail::limit_text(p, run) + "\n";
  return out + (f ? f->advice
                  : "This program has no cluster: with one as the third argument of dice::main, it predicts times and finds "
                    "better "
                    "mappings.\n");
}

/// The same as JSON.
[[gnu::cold]] inline text::json_object explained_json(const runtime::program& p, const report::seen_run& run,
                                                      const assessment* f) {
  const predicted_costs expected = f ? f->expected : predicted_costs{};
  text::json_object out;
  out.add("period_s", run.period).add("latency_s", run.latency);
  if (f) out.add("predicted_period_s", expected.expected.period).add("predicted_latency_s", expected.expected.latency);
  text::json_array stages, links, other, messages;
  for (const auto& s : run.stages) {
    text::json_array layers;
    for (const auto g : s.groups) layers.add(report::group_text(p, g));
    text::json_object stage;
    stage.add("rank", s.rank).add("host", run.hosts[s.rank]).add("layers", layers).add("measured_s", s.seconds);
    if (f) stage.add("predicted_s", detail::expected_of(expected, s));
    stages.add(stage);
  }
  for (const auto& l : run.links) {
    text::json_object link;
    link.add("from", l.from).add("to", l.to).add("bytes", l.bytes).add("messages", l.messages).add("frames", l.frames);
    link.add("measured_s", l.seconds);
    if (f) link.add("predicted_s", detail::expected_of(expected, p, l));
    links.add(link);
  }
  for (std::size_t r = 0; r < run.busy.size(); ++r) {
    other.add(detail::other_seconds(run, r));
    if (f) messages.add(expected.message_seconds[r]);
  }
  out.add("stages", stages).add("links", links).add("idle", text::json_array(run.idle)).add("other_s", other);
  if (f) out.add("predicted_message_s", messages);
  out.add("lost_cores", detail::lost_text(run)).add("limit", detail::limit_text(p, run));
  if (f) out.add("better", f->better).add("best_device_alone", f->alone);
  return out;
}

}  // namespace dice::advice
