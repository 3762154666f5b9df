// The search at run time: what best_mapping does at compile time, for a request given at run time.
#pragma once

#include "dice/cost/setting.hpp"
#include "dice/cost/simulate.hpp"
#include "dice/partition/feasible.hpp"
#include "dice/partition/objectives.hpp"
#include "dice/partition/search.hpp"
#include "dice/partition/search_direct.hpp"
#include "dice/placement/assign.hpp"
#include "dice/schedule/build.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace dice::partition {

/// The best mapping, or why there is none.
struct search_result {
  meta::array<stage> stages;  ///< in order, on devices of the problem
  prediction expected{};      ///< the plan's own figures, or if costs were changed, only its memory
  prediction counted{};       ///< the same, but memory as the search counts it
  cost::stage_ranks ranks;
  int rounds = 0;               ///< searches until the plan kept within the limits
  bool too_many_kinds = false;  ///< of hosts, for a search in any order
  nearest why{};                ///< if there is no mapping for another reason

  constexpr bool empty() const { return stages.empty(); }
};

namespace detail {

template <class T> constexpr std::span<const T> span_of(const meta::array<T>& of) { return of; }

/// The plan of mapping `a`.
constexpr schedule::built_plan plan_of(const cost::setting& s, const problem& p, const cost::stage_ranks& a) {
  meta::array<platform::device> devices;
  meta::array<algorithm::choice> algorithms;
  const auto processor = [&](int rank) { return static_cast<std::size_t>(p.devices[a.devices[rank]].processor); };
  for (int r = 0; r < a.devices.size(); ++r) devices.push_back({.rank = r, .unit = s.cluster.processors[processor(r)].unit});
  for (int l = 0; l < a.owner.size(); ++l) algorithms.push_back(s.algorithms[processor(a.owner[l])][l]);
  const auto all = [](const auto& of) { return std::span(of.data(), static_cast<std::size_t>(of.size())); };
  return schedule::build({s.net, all(a.owner), all(devices), all(algorithms), placement::default_in_flight(devices.size())});
}

/// Memory limit in bytes of each processor's rank: the smaller of its `ram` and `most`.
constexpr meta::array<std::int64_t> limits_of(const platform::cluster_view& c, std::int64_t most = no_limit) {
  meta::array<std::int64_t> out;
  for (const auto& p : c.processors) out.push_back(std::min(p.memory, most));
  return out;
}

/// The memory that the ranks of a plan need, and the most that any one needs.
struct planned_memory {
  meta::array<rank_memory> ranks;
  std::int64_t most = 0;
};
constexpr planned_memory planned_memory_of(const problem& p, const meta::array<stage>& stages, const cost::stage_ranks& a,
                                           const schedule::built_plan& plan) {
  planned_memory out;
  for (const auto& r : plan.ranks) {
    const int device = a.devices[r.rank];
    out.ranks.push_back({p.devices[device].processor, memory_of(p, stages, device), r.peak_bytes});
    out.most = std::max(out.most, r.peak_bytes);
  }
  return out;
}

constexpr planned_memory planned_memory_of(const cost::setting& s, const problem& p, const meta::array<stage>& stages,
                                           const cost::stage_ranks& a) {
  return planned_memory_of(p, stages, a, plan_of(s, p, a));
}

/// The figures of the plan of mapping `a`, as cost::simulate has them.
constexpr prediction simulated_of(const cost::setting& s, const problem& p, const cost::stage_ranks& a,
                                  const schedule::built_plan& plan) {
  meta::array<cost::placed_rank> ranks;
  for (const int d : a.devices) {
    const auto& on = s.cluster.processors[static_cast<std::size_t>(p.devices[d].processor)];
    ranks.push_back({on.unit, on.cores, p.devices[d].host});
  }
  return cost::simulate(s, {.net = s.net}, plan.view(), span_of(ranks)).expected;
}

/// Tightens the limits of `counted`, the search's goal, by as much as a mapping with figures `of` exceeds those of g.
/// Returns false if it keeps to them.
constexpr bool tighten(goal& counted, const goal& g, const prediction& of) {
  if (keeps(of, g)) return false;
  constexpr double less = 1 - 1e-9;
  if (of.period > g.max_period) counted.max_period *= less * g.max_period / of.period;
  if (of.latency > g.max_latency) counted.max_latency *= less * g.max_latency / of.latency;
  return true;
}

/// The best mapping of p, the problem of setting s, whose plan keeps to `limits`, bytes by processor, and, if p's costs are
/// those of s (`stated`), to the limits of g; if there is none, does not say why.
constexpr search_result find_within(const cost::setting& s, problem p, const goal& g,
                                    const meta::array<std::int64_t>& limits, int most, bool stated) {
  search_result out;
  auto counted = limits;
  goal aim = g;
  const auto take = [&](const solution& found) {
    out.ranks = assign(p, found.stages);
    const auto plan = plan_of(s, p, out.ranks);
    const auto memory = planned_memory_of(p, found.stages, out.ranks, plan);
    const std::span<std::int64_t> changed(counted.data(), static_cast<std::size_t>(counted.size()));
    if (tighten(changed, span_of(limits), s.cluster, g, memory.ranks)) return false;
    const auto figures = stated ? simulated_of(s, p, out.ranks, plan) : found.expected;
    if (tighten(aim, g, figures)) return false;
    out.stages = found.stages;
    out.expected = out.counted = figures;
    out.counted.memory = found.expected.memory;
    out.expected.memory = memory.most;
    return true;
  };
  while (out.rounds++ < max_rounds) {
    set_limits(p, span_of(counted));
    const outcome found = search_direct(s, p, aim, most);
    out.too_many_kinds = found.too_many_kinds;
    if (!found.best.empty()) {
      if (take(found.best)) return out;
      continue;
    }
    if (found.too_many_kinds || out.rounds > 1) break;
    const auto missing = missing_memory(p, g, most);
    if (missing == 0) break;
    for (auto& bytes : counted) bytes = std::max(bytes, missing);  // plans may take less than the search counts
  }
  if (out.too_many_kinds) return out;
  counted = limits;
  for (const auto best : {objective::latency, objective::throughput, objective::peak_memory}) {  // better than nothing
    goal nearest = g;
    nearest.best = best;
    if (best == objective::peak_memory) {
      set_limits(p, span_of(limits_of(s.cluster)));
    } else {  // plans may be better than the search counts
      double& limit = best == objective::latency ? nearest.max_latency : nearest.max_period;
      if (limit == infinity) continue;
      limit = infinity;
      set_limits(p, span_of(limits));
    }
    if (const auto found = search_direct(s, p, nearest, most).best; !found.empty() && take(found)) return out;
  }
  return out;
}

/// The mapping with the fewest devices that is good enough compared with `best`, found by bisection.
constexpr search_result fewest(const cost::setting& s, const problem& p, const request& r,
                               const meta::array<std::int64_t>& limits, int most, bool stated, search_result best) {
  const prediction wanted = best.counted;
  goal g = r.aim;
  for (int few = 0; best.ranks.devices.size() - few > 1;) {
    g.max_devices = (few + best.ranks.devices.size()) / 2;
    const search_result found = find_within(s, p, g, limits, most, stated);
    if (!found.empty() && good_enough(r, found.counted, wanted)) best = found;
    else few = g.max_devices;
  }
  return best;
}

/// A memory limit to report, rounded, that a mapping can meet; 0 if there is no mapping at all.
constexpr std::int64_t enough_memory(const cost::setting& s, problem p, goal g, int most) {
  g.best = objective::peak_memory;
  set_limits(p, span_of(limits_of(s.cluster)));
  solution found = search(p, g, most).best;
  if (found.empty()) {
    for (auto& d : p.devices) d.memory_limit = no_limit;
    found = search(p, g, most).best;
  }
  if (found.empty()) {  // ignoring the other limits
    g.max_period = g.max_latency = infinity;
    found = search(p, g, most).best;
  }
  if (found.empty()) return 0;
  return rounded_bytes(planned_memory_of(s, p, found.stages, assign(p, found.stages)).most);
}

}  // namespace detail

/// Why no mapping of p, the problem of setting s with its ends tied, has a plan that keeps to the limits of the request: the
/// first limit that cannot be kept together with those before it, in the order memory, frames/s, latency.
constexpr nearest why_none(const cost::setting& s, problem p, const request& r, int most = max_routes, bool stated = true) {
  const auto limits = detail::limits_of(s.cluster, r.memory);
  goal g = r.aim;
  g.best = objective::throughput;
  g.max_period = g.max_latency = infinity;
  const search_result fastest = detail::find_within(s, p, g, limits, most, stated);
  if (!fastest.empty()) {
    if (fastest.expected.period > r.aim.max_period) return {obstacle::fps, fastest.expected.throughput};
    g.best = objective::latency;
    g.max_period = r.aim.max_period;
    const search_result quickest = detail::find_within(s, p, g, limits, most, stated);
    if (!quickest.empty()) {
      if (quickest.expected.latency > r.aim.max_latency) return {obstacle::latency, quickest.expected.latency};
      g.max_latency = r.aim.max_latency;
    }
  } else {
    set_limits(p, detail::span_of(limits));
    for (const bool outputs : {false, true}) {
      const int host = outputs ? g.output_at : g.input_at;
      const auto bytes = host < 0 ? 0 : detail::too_large_end(s, p, host, outputs);
      if (bytes != 0)
        return {outputs ? obstacle::output_host : obstacle::input_host,
                bytes < 0 ? 0.0 : static_cast<double>(rounded_bytes(bytes))};
    }
  }
  const auto bytes = detail::enough_memory(s, p, g, most);
  return {bytes > 0 ? obstacle::memory : obstacle::constraints, static_cast<double>(bytes)};
}

/// The mapping that best_mapping would find for p, the problem of setting s. Its plan keeps within the memory limits of the
/// request, and within all limits if p has the costs of s (`stated`); else its figures are those of p. Gives up beyond
/// `most` routes.
constexpr search_result find_best(const cost::setting& s, problem p, const request& r, int most = max_routes,
                                  bool stated = false) {
  tie_ends(p, s, r.aim);
  const auto limits = detail::limits_of(s.cluster, r.memory);
  search_result out = detail::find_within(s, p, r.aim, limits, most, stated);
  if (out.empty() && !out.too_many_kinds) out.why = why_none(s, p, r, most, stated);
  else if (!out.empty() && r.percent >= 0) out = detail::fewest(s, p, r, limits, most, stated, out);
  return out;
}
constexpr search_result find_best(const cost::setting& s, const request& r, int most = max_routes) {
  return find_best(s, problem_of(s), r, most, true);
}

}  // namespace dice::partition
