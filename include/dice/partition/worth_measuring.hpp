// Which of the mappings that a search found are worth running.
#pragma once

#include "dice/partition/goal.hpp"
#include "dice/partition/mix.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace dice::partition {

/// Whether two mixes differ in no more than borders and shares.
inline bool are_alike(const mixed& a, const mixed& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.by.word == y.by.word &&
           std::equal(x.by.devices.begin(), x.by.devices.end(), y.by.devices.begin(), y.by.devices.end());
  });
}
inline bool are_same(const mixed& a, const mixed& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && x.by == y.by; });
}

/// Up to `count` mappings of those that were rated: the best one, the best one that splits everything in one way, because
/// predictions err less for simple mappings, then those unlike all of these, the best ones first, and then others.
[[gnu::cold]] inline std::vector<std::pair<mixed, prediction>> worth_measuring(const mix_result& found, objective o,
                                                                               int count) {
  std::vector<std::pair<mixed, prediction>> out;
  const auto add = [&](const mixed& m, const prediction& expected, auto known) {
    const bool is_new = std::none_of(out.begin(), out.end(), [&](const auto& other) { return known(other.first, m); });
    if (static_cast<int>(out.size()) < count && is_new) out.emplace_back(m, expected);
  };
  if (!found.best.empty()) add(found.best[0].first, found.best[0].second, are_same);
  const auto simple = std::min_element(found.pure.begin(), found.pure.end(), [&](const auto& a, const auto& b) {
    return value_of(o, a.expected) < value_of(o, b.expected);
  });
  if (simple != found.pure.end()) add(simple->sections, simple->expected, are_same);
  for (const auto& [m, expected] : found.best) add(m, expected, are_alike);
  for (const auto& [m, expected] : found.best) add(m, expected, are_same);
  return out;
}

}  // namespace dice::partition
