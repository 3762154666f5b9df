// The search at run time: what best_mapping does at compile time, for a wish that came later.
#pragma once

#include "dice/cost/setting.hpp"
#include "dice/partition/feasible.hpp"
#include "dice/partition/objectives.hpp"
#include "dice/partition/search.hpp"
#include "dice/placement/place.hpp"
#include "dice/schedule/build.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace dice::partition {

/// The best mapping, or why there is none.
struct finding {
  meta::array<stage> stages;  ///< in order, on devices of the problem
  prediction expected{};      ///< memory is the plan's own figure
  cost::assignment ranks;
  int rounds = 0;               ///< searches, until the plan kept to the limits
  bool too_many_kinds = false;  ///< of hosts, for a search in any order
  nearest why{};                ///< if there is none for another reason

  constexpr bool empty() const { return stages.empty(); }
};

namespace detail {

template <class T> constexpr std::span<const T> span_of(const meta::array<T>& of) {
  return {of.data(), static_cast<std::size_t>(of.size())};
}

/// The plan of the mapping that `a` is.
constexpr schedule::built_plan plan_of(const cost::setting& s, const problem& p, const cost::assignment& a) {
  meta::array<platform::device> devices;
  meta::array<algorithm::choice> algorithms;
  const auto processor = [&](int rank) { return static_cast<std::size_t>(p.devices[a.devices[rank]].processor); };
  for (int r = 0; r < a.devices.size(); ++r) devices.push_back({.rank = r, .on = s.cluster.processors[processor(r)].on});
  for (int l = 0; l < a.owner.size(); ++l)
    algorithms.push_back(s.algorithms[processor(a.owner[l])][static_cast<std::size_t>(l)]);
  const auto all = [](const auto& of) { return std::span(of.data(), static_cast<std::size_t>(of.size())); };
  return schedule::build({s.net, all(a.owner), all(devices), all(algorithms), placement::default_in_flight(devices.size())});
}

/// Bytes that each processor's rank may have: its `ram`, and `most`.
constexpr meta::array<std::int64_t> limits_of(const platform::cluster_view& c, std::int64_t most = no_limit) {
  meta::array<std::int64_t> out;
  for (const auto& p : c.processors) out.push_back(std::min(p.memory, most));
  return out;
}

/// What the ranks of a plan need, and the most that one does.
struct needs {
  meta::array<rank_memory> ranks;
  std::int64_t most = 0;
};
constexpr needs needs_of(const cost::setting& s, const problem& p, const meta::array<stage>& stages,
                         const cost::assignment& a) {
  needs out;
  for (const auto& r : plan_of(s, p, a).ranks) {
    const int device = a.devices[r.rank];
    out.ranks.push_back({p.devices[device].processor, memory_of(p, stages, device), r.peak_bytes});
    out.most = std::max(out.most, r.peak_bytes);
  }
  return out;
}

/// The best mapping of p, the problem of setting s, whose plan keeps to `limits`, bytes by processor; does not say why there
/// is none.
constexpr finding find_within(const cost::setting& s, problem p, const goal& g, const meta::array<std::int64_t>& limits,
                              int most) {
  finding out;
  auto counted = limits;
  const auto take = [&](const solution& found) {
    out.ranks = assign(p, found.stages);
    const auto memory = needs_of(s, p, found.stages, out.ranks);
    const std::span<std::int64_t> changed(counted.data(), static_cast<std::size_t>(counted.size()));
    if (tighten(changed, span_of(limits), s.cluster, memory.ranks)) return false;
    out.stages = found.stages, out.expected = found.expected;
    out.expected.memory = memory.most;
    return true;
  };
  while (out.rounds++ < most_rounds) {
    set_limits(p, span_of(counted));
    const outcome found = search(p, g, most);
    out.too_many_kinds = found.too_many_kinds;
    if (!found.best.empty()) {
      if (take(found.best)) return out;
      continue;
    }
    if (found.too_many_kinds || out.rounds > 1) break;
    const auto missing = missing_memory(p, g, most);
    if (missing == 0) return out;
    for (auto& bytes : counted) bytes = std::max(bytes, missing);  // plans may take less than the search counts
  }
  if (out.too_many_kinds) return out;
  goal smallest = g;  // rather than none
  smallest.best = objective::peak_memory;
  set_limits(p, span_of(limits_of(s.cluster)));
  if (const auto found = search(p, smallest, most).best; !found.empty()) take(found);
  return out;
}

/// A memory limit, as it is told, that a mapping can keep to.
constexpr std::int64_t enough_memory(const cost::setting& s, problem p, goal g, int most) {
  g.best = objective::peak_memory;
  set_limits(p, span_of(limits_of(s.cluster)));
  solution found = search(p, g, most).best;
  if (found.empty()) {
    for (auto& d : p.devices) d.memory_limit = no_limit;
    found = search(p, g, most).best;
  }
  if (found.empty()) {  // whatever else is wished
    g.most_period = g.most_latency = infinity;
    found = search(p, g, most).best;
  }
  return told_bytes(needs_of(s, p, found.stages, assign(p, found.stages)).most);
}

}  // namespace detail

/// Why no mapping of p, the problem of setting s, has a plan that keeps to the limits of the wish: the first limit that
/// cannot be kept together with those before it, in the order memory, frames/s, latency.
constexpr nearest why_none(const cost::setting& s, const problem& p, const wish& w, int most = most_routes) {
  const auto limits = detail::limits_of(s.cluster, w.memory);
  goal g = w.aim;
  g.best = objective::throughput, g.most_period = g.most_latency = infinity;
  const finding fastest = detail::find_within(s, p, g, limits, most);
  if (!fastest.empty()) {
    if (fastest.expected.period > w.aim.most_period) return {obstacle::fps, fastest.expected.throughput};
    g.best = objective::latency, g.most_period = w.aim.most_period;
    const finding quickest = detail::find_within(s, p, g, limits, most);
    if (!quickest.empty()) {
      if (quickest.expected.latency > w.aim.most_latency) return {obstacle::latency, quickest.expected.latency};
      g.most_latency = w.aim.most_latency;
    }
  }
  return {obstacle::memory, static_cast<double>(detail::enough_memory(s, p, g, most))};
}

/// The best mapping of p, the problem of setting s, whose costs may have been changed since: as best_mapping finds it, with
/// a plan that keeps to the limits of the wish. Beyond `most` routes it gives up.
constexpr finding find_best(const cost::setting& s, const problem& p, const wish& w, int most = most_routes) {
  finding out = detail::find_within(s, p, w.aim, detail::limits_of(s.cluster, w.memory), most);
  if (out.empty() && !out.too_many_kinds) out.why = why_none(s, p, w, most);
  return out;
}
constexpr finding find_best(const cost::setting& s, const wish& w, int most = most_routes) {
  return find_best(s, problem_of(s), w, most);
}

}  // namespace dice::partition
