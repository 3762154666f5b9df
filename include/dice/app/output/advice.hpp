// The parts of --explain that need a cluster: what was to be expected of a run, and which mapping would be faster.
#pragma once

#include "dice/app/forecast.hpp"
#include "dice/app/output/explanation.hpp"
#include "dice/app/output/json.hpp"
#include "dice/app/output/prediction.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/setting.hpp"
#include "dice/runtime/program.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace dice::app {

/// What is predicted of the program's mapping.
[[gnu::cold]] inline foresight foreseen(const forecast& f, const runtime::program& p) {
  const auto problem = partition::problem_of(f.setting, p.plan, f.ranks);
  foresight out;
  out.expected = partition::predict(f.setting, p.plan, f.ranks);
  for (const auto& g : p.plan.groups) {
    const int piece = problem.piece_of[g.anchor];
    out.group_seconds.push_back(problem.time(g.rank, piece, piece + 1));
  }
  for (int a = 0; a < p.ranks(); ++a)
    for (int b = 0; b < p.ranks(); ++b) out.links.push_back(problem.link(a, b));
  const auto stages = partition::stages_of(problem, p.plan);
  out.message_seconds.resize(static_cast<std::size_t>(p.ranks()));
  for (int k = 0; k < stages.size(); ++k)
    out.message_seconds[static_cast<std::size_t>(stages[k].device)] += partition::message_time(problem, stages, k);
  return out;
}

namespace detail {

/// Sums of what was measured and predicted.
struct ratio {
  double measured = 0, expected = 0;
  bool known() const { return measured > 0 && expected > 0; }
  double value() const { return measured / expected; }
};

/// The problem of finding a mapping, with times as they were seen: those of a kind of processor that computed, and of links
/// whose messages were seen as they arrived, by how much they differed from what was predicted; other processors by the mean
/// of these.
[[gnu::cold]] inline partition::problem as_seen(const forecast& f, const runtime::program& p, const seen_run& run,
                                                const foresight& expected) {
  auto out = partition::problem_of(f.setting);
  std::vector<ratio> kinds(static_cast<std::size_t>(out.kinds.size()));
  ratio all, links;
  for (int r = 0; r < p.ranks(); ++r) {
    ratio mine{run.busy[static_cast<std::size_t>(r)], 0};
    for (const auto& s : run.stages)
      if (s.rank == r) mine.expected += expected_of(expected, s);
    all.measured += mine.measured, all.expected += mine.expected;
    std::vector<bool> counted(kinds.size());
    for (const auto& d : out.devices) {
      const auto& placed = f.ranks[static_cast<std::size_t>(r)];
      const auto kind = static_cast<std::size_t>(d.kind);
      if (d.host != placed.on_host || counted[kind] ||
          partition::share_of(f.setting.cluster, static_cast<std::size_t>(d.processor), placed) <= 0)
        continue;
      counted[kind] = true;
      kinds[kind].measured += mine.measured, kinds[kind].expected += mine.expected;
    }
  }
  for (const auto& l : run.links)
    if (!seen_late(run, l)) links.measured += l.seconds, links.expected += expected_of(expected, p, l);
  for (int k = 0; k < out.kinds.size(); ++k) {
    const auto& own = kinds[static_cast<std::size_t>(k)];
    const double times = own.known() ? own.value() : all.known() ? all.value() : 1;
    for (auto& s : out.kinds[k].seconds) s *= times;
  }
  if (links.known())
    for (auto& l : out.links) l.seconds *= links.value(), l.bytes_per_s /= links.value();
  partition::complete(out);
  return out;
}

}  // namespace detail

/// forecast::advise.
[[gnu::cold]] inline outlook advised(const forecast& f, const runtime::program& p, const seen_run& run) {
  constexpr double little = 0.03;  // a gain that is lost in the noise
  outlook out{foreseen(f, p), {}, "\"better\": null"};
  const auto problem = detail::as_seen(f, p, run, out.expected);
  const auto found = partition::find_best(f.setting, problem, {}, detail::most_routes_at_run_time);
  if (found.empty()) {
    out.advice =
        "Better mappings were not found: hosts of so many kinds have too many orders, or no plan fits their memory.\n";
    return out;
  }
  // What the model makes of this mapping, as of the others: frames that wait for one another are no reason to change it.
  double slowest = 0;
  for (std::size_t r = 0; r < run.busy.size(); ++r)
    slowest = std::max(slowest, run.busy[r] + out.expected.message_seconds[r]);
  for (const auto& l : run.links)
    slowest = std::max(slowest, detail::seen_late(run, l) ? detail::expected_of(out.expected, p, l) : l.seconds);
  const double gain = found.expected.throughput * slowest - 1;
  if (!(gain > little)) {  // or nothing takes any time
    out.advice = "No other mapping on this cluster is predicted to gain more than 3 %" +
                 std::string(p.ranks() == 1 ? ": none is better than this one device.\n" : ".\n");
    return out;
  }
  const auto mapping = detail::found_text(f, p, problem, found, "");
  const bool alone = found.ranks.devices.size() == 1 && p.ranks() > 1;
  out.advice =
      (alone ? "No mapping on several devices is better than one device alone, which would do " : "This mapping would do ") +
      detail::number_text(found.expected.throughput, "%.4g frames/s") + detail::number_text(gain * 100, " (%.0f %% more)") +
      ", with times as they were measured here:\n" + mapping;
  out.advice_json = "\"better\": {\"frames_per_s\": " + json_number(found.expected.throughput) +
                    ", \"gain\": " + json_number(gain) + ", \"mapping\": " + json_string(mapping) + "}";
  return out;
}

}  // namespace dice::app
