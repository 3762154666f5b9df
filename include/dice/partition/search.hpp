#pragma once

#include "dice/partition/energy.hpp"
#include "dice/partition/fill.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/labels.hpp"
#include "dice/partition/problem.hpp"
#include "dice/partition/repeats.hpp"
#include "dice/partition/routes.hpp"
#include "dice/partition/sum_rest.hpp"

#include <algorithm>
#include <climits>

namespace dice::partition {

/// Maximum number of nodes of `routes`; 8 hosts of 3 kinds (3, 3 and 2) have 104 besides the start, 16 hosts of one kind 16.
inline constexpr int max_routes = 1024;

/// Maximum number of partial mappings in a search for sums before it turns to more expensive bounds that rule out more. Does
/// not change the result.
struct effort {
  int quick = 60;       ///< with quick bounds; networks on boards of a few kinds often need fewer
  int interval = 1000;  ///< in an interval of periods that is not narrow
};

/// The outcome of a search: the best mapping, or none.
struct outcome {
  solution best;
  bool too_many_kinds = false;  ///< of hosts, for a search in any order
};

namespace detail {

/// Replaces `best` by the best mapping to a single device, if that is better.
constexpr void try_single(const problem& p, const goal& g, solution& best) {
  for (int d = 0; d < p.devices.size(); ++d) {
    solution alone;
    alone.stages.push_back({d, 0, p.cut_units});
    alone.expected = predict(p, alone.stages);
    if (!keeps(alone.expected, g) || alone.expected.memory > p.devices[d].memory_limit) continue;
    if (best.empty() || value_of(g.best, alone.expected) < value_of(g.best, best.expected)) best = alone;
  }
}

/// Replaces `best` by a better mapping, if there is one, for objectives and limits that are sums.
constexpr void add_up(const problem& p, const routes& r, const goal& g, progress tell, const effort& labels,
                      solution& best) {
  const progress first = tell.phase(0, 0.5), second = tell.phase(0.5, 1);
  const auto run = [&](const progress& to, rests with, int most) {
    label_search search(p, r, g, to, with, most);
    meta::array<int> path, starts;
    if (search.run(best.empty() ? infinity : value_of(g.best, best.expected), path, starts))
      best = along(p, r, g.in_order, path, starts);
    return search.finished();
  };
  if (run(first, {}, labels.quick)) return;
  const auto thoroughly = [&](const sum_rest* latency) {
    if (g.best == objective::energy) best = energy_search(p, r, g, second, latency, labels.interval).run(best);
    else run(second, {latency, nullptr}, INT_MAX);
  };
  if (g.best == objective::energy && g.max_latency == infinity) return thoroughly(nullptr);
  const double known = g.best == objective::latency && !best.empty() ? best.expected.latency : infinity;
  const sum_rest latency(p, r, transfers_of(p, r), bounds(p, g, false).before(objective::latency),
                         std::min(known, g.max_latency), objective::latency, 0, g.max_period);
  thoroughly(&latency);
}

}  // namespace detail

/// The best mapping of p for g, exactly, among all that give intervals of cut units to different devices (and, with
/// g.repeats, those of up to four stages on any devices).
constexpr outcome search(const problem& p, const goal& g, int most = max_routes, const effort& labels = {}) {
  outcome out;
  if (p.devices.empty()) return out;
  const routes r = routes_of(p, g.in_order, most, g.max_devices);
  if (!r.complete) {
    out.too_many_kinds = true;
    return out;
  }
  const caps within{.period = g.max_period};
  const bool bottleneck = g.best == objective::throughput || g.best == objective::peak_memory;
  const bool adds = !bottleneck || g.max_latency < infinity;
  const double labelled = g.repeats ? 0.8 : 1, filled = adds ? 0.1 : labelled;
  bottleneck_search stages(p, r, g.in_order, {g.seen_by, 0, filled});
  if (g.best == objective::throughput) out.best = stages.fastest(within);
  else if (bottleneck) out.best = stages.smallest(within);
  else out.best = stages.feasible(within);  // a value to improve on
  if (!out.best.empty() && !keeps(out.best.expected, g)) out.best = {};
  if (!bottleneck || (g.max_latency < infinity && out.best.empty())) {
    if (!bottleneck) detail::try_single(p, g, out.best);
    detail::add_up(p, r, g, {g.seen_by, filled, labelled}, labels, out.best);
  }
  if (g.repeats) {
    const double known = out.best.empty() ? infinity : value_of(g.best, out.best.expected);
    solution better = detail::repeat_search(p, g, {g.seen_by, labelled, 1}).run(known);
    if (!better.empty()) out.best = better;
  }
  return out;
}

}  // namespace dice::partition
