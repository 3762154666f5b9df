#pragma once

#include "dice/meta/array.hpp"
#include "dice/placement/written.hpp"

#include <cstddef>

namespace dice::placement {

/// A mapping as values that owns them. Moved, not copied: entries point to their parts.
struct owned_mapping {
  form is = form::mapping;
  bool of_this_network = true;
  meta::array<entry> entries;  // a std::vector costs the compiler ten times as much
  meta::array<interval> lists;
  meta::array<platform::limit> limits;
  meta::array<int> cores, points, ranks, shares;

  owned_mapping() = default;
  owned_mapping(owned_mapping&&) = default;
  owned_mapping& operator=(owned_mapping&&) = default;

  /// Makes entries point to their parts, which were added in the order of the entries: each takes as many lists,
  /// limits, ranks and shares as its views count, and as many cores as its unit counts.
  void settle() {
    std::size_t list = 0, limit = 0, core = 0, rank = 0, share = 0;
    for (auto& e : entries) {
      e.work.lists.first = lists.data() + list, list += e.work.lists.count;
      e.work.shares.first = shares.data() + share, share += e.work.shares.count;
      e.ranks.first = ranks.data() + rank, rank += e.ranks.count;
      e.dev.limits.first = limits.data() + limit, limit += e.dev.limits.count;
      if (e.dev.unit.what != platform::unit::kind::cores) continue;
      const auto n = static_cast<std::size_t>(e.dev.unit.count);
      e.dev.cores = {cores.data() + core, n}, core += n;
    }
  }
  written_mapping values() const { return {is, of_this_network, entries, points}; }
};

}  // namespace dice::placement
