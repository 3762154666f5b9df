// Sections as a mapping.
#pragma once

#include "dice/cost/arrangement.hpp"
#include "dice/cost/problem.hpp"
#include "dice/meta/array.hpp"
#include "dice/placement/owned.hpp"
#include "dice/placement/words.hpp"
#include "dice/platform/cluster.hpp"
#include "dice/platform/dev.hpp"

#include <algorithm>
#include <cstddef>

namespace dice::partition {

/// A mapping, and the device of each of its ranks.
struct written_sections {
  placement::owned_mapping mapping;
  meta::array<int> devices;
};

/// Sections of problem p in arrangements `all` as a mapping of ranks, numbered in the order in which they first appear, on
/// the hosts of cluster `c`, which must outlive it.
constexpr written_sections mapping_of(const cost::problem& p, const platform::cluster_view& c,
                                      const meta::array<cost::arrangement>& all,
                                      const meta::array<cost::section>& sections) {
  using platform::limit;
  written_sections both;
  auto& out = both.mapping;
  meta::array<int> rank_of(p.devices.size(), -1);
  const auto declare = [&](int d) {
    const auto& about = p.devices[d];
    const auto& on = c.processors[static_cast<std::size_t>(about.processor)];
    placement::entry dev{.what = placement::entry::kind::dev,
                         .dev{.rank = rank_of[d] = both.devices.size(), .unit = on.unit}};
    const auto add = [&](const limit& l) {
      out.limits.push_back(l);
      ++dev.dev.limits.count;
    };
    if (on.unit.precision != platform::numbers::float32)
      add({.what = limit::kind::precision, .precision = on.unit.precision});
    if (on.unit.direct) add({.what = limit::kind::direct});
    add({.what = limit::kind::host, .host = c.hosts[about.host].name});
    dev.dev.unit.precision = platform::numbers::float32;
    dev.dev.unit.direct = false;
    for (const int core : on.cores) out.cores.push_back(core);
    out.entries.push_back(dev);
    both.devices.push_back(d);
  };
  for (const auto& s : sections) {
    const auto& by = all[s.arrangement];
    meta::array<int> named;  // ranks declared before, of which each run lists those that follow one another
    const auto end_named = [&] {
      if (named.empty()) return;
      for (const int r : named) out.ranks.push_back(r);
      out.entries.push_back(
          {.what = placement::entry::kind::ranks, .ranks{nullptr, static_cast<std::size_t>(named.size())}});
      named.truncate(0);
    };
    for (const int d : by.devices) {
      if (rank_of[d] >= 0) {
        named.push_back(rank_of[d]);
        continue;
      }
      end_named();
      declare(d);
    }
    end_named();
    placement::entry work{.what = placement::entry::kind::work,
                          .work{.word = by.word, .down = by.down, .across = by.across, .exchange_every = by.exchange_every}};
    const int layers = p.cut_unit_of.size();
    const auto inside = [&](int l) { return p.cut_unit_of[l] >= s.first && p.cut_unit_of[l] < s.last; };
    for (int l = 0; l < layers; ++l) {
      if (!inside(l)) continue;
      const int first = l;
      while (l + 1 < layers && inside(l + 1)) ++l;
      out.lists.push_back({first, l});
      ++work.work.lists.count;
    }
    if (!by.shares.empty()) {
      work.work.options |= placement::bits(placement::option::shares);
      for (const int n : by.shares) out.shares.push_back(n);
      work.work.shares.count = static_cast<std::size_t>(by.shares.size());
    }
    if (by.exchange_every > 1) work.work.options |= placement::bits(placement::option::exchange_every);
    out.entries.push_back(work);
  }
  const int ranks = both.devices.size();
  int replicas = 0;  // each needs some frames ahead, so that it is never idle
  for (const auto& section : sections)
    if (all[section.arrangement].has_replicas()) replicas = std::max(replicas, all[section.arrangement].devices.size());
  const int frames = 2 * (ranks - replicas) + 3 * replicas;
  if (replicas > 0 && frames > placement::default_in_flight(ranks))
    out.entries.push_back({.what = placement::entry::kind::in_flight, .frames = frames});
  out.settle();
  return both;
}

}  // namespace dice::partition
