// Mappings as values that own their lists.
#pragma once

#include "dice/meta/array.hpp"
#include "dice/placement/assign.hpp"
#include "dice/placement/written.hpp"

#include <cstddef>
#include <span>

namespace dice::placement {

/// A mapping that owns its values. Can be moved, not copied: entries point to their parts.
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
  constexpr void settle() {
    std::size_t list = 0, limit = 0, core = 0, rank = 0, share = 0;
    for (auto& e : entries) {
      e.work.lists.first = lists.data() + list;
      list += e.work.lists.count;
      e.work.shares.first = shares.data() + share;
      share += e.work.shares.count;
      e.ranks.first = ranks.data() + rank;
      rank += e.ranks.count;
      e.dev.limits.first = limits.data() + limit;
      limit += e.dev.limits.count;
      if (e.dev.unit.what != platform::unit::kind::cores) continue;
      const auto n = static_cast<std::size_t>(e.dev.unit.count);
      e.dev.cores = {cores.data() + core, n};
      core += n;
    }
  }
  constexpr written_mapping values() const { return {is, of_this_network, entries, points}; }
};

/// The mapping of a placement, given as the rank of each layer and the devices in order of rank. Its hosts refer to those of
/// `devices`, which must outlive it.
[[gnu::cold]] inline owned_mapping mapping_of(std::span<const int> owner, std::span<const platform::device> devices,
                                              int in_flight) {
  using limit = platform::limit;
  owned_mapping out;
  for (const auto& d : devices) {
    entry dev{.what = entry::kind::dev, .dev{.rank = d.rank, .unit = d.unit}};
    const auto add = [&](const limit& l) {
      out.limits.push_back(l);
      ++dev.dev.limits.count;
    };
    if (d.memory_limit >= 0) add({.what = limit::kind::memory, .bytes = d.memory_limit});
    if (d.unit.precision != platform::numbers::float32) add({.what = limit::kind::precision, .precision = d.unit.precision});
    if (d.unit.direct) add({.what = limit::kind::direct});
    if (!d.host.empty()) add({.what = limit::kind::host, .host = d.host});
    dev.dev.unit.precision = platform::numbers::float32;
    dev.dev.unit.direct = false;
    for (const int core : d.cores) out.cores.push_back(core);
    out.entries.push_back(dev);
    entry list{.what = entry::kind::work};
    const int layers = static_cast<int>(owner.size());
    for (int l = 0; l < layers; ++l) {
      if (owner[l] != d.rank) continue;
      const int from = l;
      while (l + 1 < layers && owner[static_cast<std::size_t>(l) + 1] == d.rank) ++l;
      out.lists.push_back({from, l});
      ++list.work.lists.count;
    }
    out.entries.push_back(list);
  }
  if (in_flight != default_in_flight(static_cast<int>(devices.size())))
    out.entries.push_back({.what = entry::kind::in_flight, .frames = in_flight});
  out.settle();
  return out;
}

}  // namespace dice::placement
