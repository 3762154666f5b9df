// Enumerates all mappings of a small problem: the oracle of the searches, with which it shares only `predict`.
#pragma once

#include "dice/partition/search.hpp"

#include <functional>
#include <set>

namespace test {

/// Calls f with every sequence of stages that covers the cut units: on different devices (`in_order`: each later than the
/// one before), and if `repeats` also those of up to 4 stages in which a device returns, but not at once.
inline void each_mapping(const dice::cost::problem& p, bool in_order, bool repeats,
                         const std::function<void(const dice::meta::array<dice::cost::stage>&)>& f) {
  dice::meta::array<dice::cost::stage> stages;
  const std::function<void(int, bool, bool)> extend = [&](int first, bool distinct, bool ordered) {
    if (first == p.cut_units) {
      if (distinct ? ordered || !in_order : repeats && stages.size() <= 4) f(stages);
      return;
    }
    for (int d = 0; d < p.devices.size(); ++d) {
      bool used = false;
      for (const auto& s : stages) used = used || s.device == d;
      const int last = stages.empty() ? -1 : stages[stages.size() - 1].device;
      if (d == last) continue;
      for (int end = first + 1; end <= p.cut_units; ++end) {
        stages.push_back({d, first, end});
        if (stages.size() <= p.devices.size() || (repeats && stages.size() <= 4))
          extend(end, distinct && !used, ordered && d > last);
        stages.truncate(stages.size() - 1);
      }
    }
  };
  extend(0, true, true);
}

using stages_of = dice::meta::array<dice::cost::stage>;

inline int devices_in(const stages_of& stages) {
  std::set<int> devices;
  for (const auto& s : stages) devices.insert(s.device);
  return static_cast<int>(devices.size());
}

/// The smallest value of all mappings within the goal's and the devices' limits that are `right`; infinite if none is.
inline double best_value(const dice::cost::problem& p, const dice::partition::goal& g,
                         const std::function<bool(const stages_of&)>& right = {}) {
  double best = dice::cost::infinity;
  each_mapping(p, g.in_order, g.repeats, [&](const auto& stages) {
    if (devices_in(stages) > g.max_devices || (right && !right(stages))) return;
    const auto expected = dice::cost::predict(p, stages);
    if (!dice::partition::keeps(expected, g)) return;
    for (const auto& s : stages)
      if (dice::cost::memory_of(p, stages, s.device) > p.devices[s.device].memory_limit) return;
    best = std::min(best, dice::partition::value_of(g.best, expected));
  });
  return best;
}

}  // namespace test
