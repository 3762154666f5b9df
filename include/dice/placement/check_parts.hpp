// Checks runs of devices, and that their layers can be computed in so many parts.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/placement/finding.hpp"
#include "dice/placement/written.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dice::placement::detail {

/// A run's ranks, as far as messages about mistakes name them.
struct run {
  int ranks = 0, first = 0, second = 0;

  constexpr void add(int rank) {
    if (ranks < 2) (ranks == 0 ? first : second) = rank;
    ++ranks;
  }
};

/// Calls `check` with each work item, its run and its position, until it finds a mistake.
constexpr finding check_works(const written_mapping& m, finding (*check)(const written_work&, const run&, int)) {
  run before;
  int at = 0;
  for (const auto& e : m.entries) {
    for (const int rank : ranks_in(e)) before.add(rank);
    if (e.what == entry::kind::work)
      if (const finding f = check(e.work, before, at)) return f;
    if (ends_run(m, e)) before = {};
    ++at;
  }
  return {};
}

/// Requires a device for each rank from 0 to `devices` - 1.
constexpr finding check_runs(const written_mapping& m, int devices) {
  int at = 0, ended = 0;
  for (const auto& e : m.entries) {
    for (const int r : e.ranks)
      if (r < 0 || r >= devices) return {mistake::rank_not_declared, at, 0, r};
    ++at;
  }
  meta::array<int> last(devices, -1);  // the last run that has the rank
  at = 0;
  for (const auto& e : m.entries) {
    for (const int r : ranks_in(e)) {
      if (last[r] == ended) return {mistake::rank_twice_in_run, at, 0, r};
      last[r] = ended;
    }
    ended += ends_run(m, e);
    ++at;
  }
  return check_works(m, [](const written_work& w, const run& on, int position) -> finding {
    if (!w.splits() && on.ranks > 1) return {mistake::layers_on_several_devices, position, 0, on.first, on.second};
    if (w.splits() && w.is().cut != geometry::grid && on.ranks == 1)
      return {mistake::split_on_one_rank, position, 0, on.first};
    return {};
  });
}

constexpr finding check_options(const written_mapping& m) {
  return check_works(m, [](const written_work& w, const run& on, int at) -> finding {
    if (w.wrong_option >= 0) return {mistake::not_a_split_option, at, w.wrong_option};
    if (w.down < 1 || w.across < 1) return {mistake::tile_grid_not_positive, at, 0, w.down, w.across};
    if (const auto tiles = std::int64_t{w.down} * w.across; w.is().cut == geometry::grid && tiles < on.ranks)
      return {mistake::tiles_fewer_than_ranks, at, 0, static_cast<int>(tiles), on.ranks};
    for (std::size_t i = 0; i < w.shares.size(); ++i)
      if (w.shares[i] < 1) return {mistake::share_not_positive, at, static_cast<int>(i), w.shares[i]};
    const int shares = static_cast<int>(w.shares.size());
    if (w.has(option::shares) && shares != on.ranks) return {mistake::shares_do_not_fit_ranks, at, 0, shares, on.ranks};
    if (w.exchange_every < 1) return {mistake::exchange_every_not_positive, at, 0, w.exchange_every};
    return {};
  });
}

/// The first mistake of layer `l` as one in parts for `ranks` ranks; without position.
constexpr finding check_part(const graph::network_view& net, int l, const written_work& w, int ranks) {
  const auto& layer = net.layers[l];
  if (layer.is_input || layer.is_output) return {mistake::input_or_output_not_splittable, 0, 0, l};
  finding few;
  /// Notes a mistake if fewer than `parts` parts can begin at multiples of `step` of an axis of this extent.
  const auto require = [&](mistake what, std::int64_t extent, std::int64_t step, int parts) {
    const auto units = step < 1 ? 0 : (extent + step - 1) / step;
    if (step < 1) few = {mistake::layer_not_splittable, 0, 0, l};
    else if (units < parts && !few) few = {what, 0, 0, l, parts, 0, std::max<std::int64_t>(units, 1)};
  };
  constexpr mistake too_few[]{mistake::too_few_channel_blocks, mistake::too_few_rows, mistake::too_few_columns};
  const auto& cut = about(w.is().cut);
  const auto parts = divisions(w.is().cut, ranks, w.down, w.across);
  for (int k = 0; k < axis::count; ++k)
    if (const int a = axis_of(layer, k); cut.cuts[k])
      require(too_few[k], a < 0 ? 0 : layer.output[a], layer.cut_step(a), parts[k]);
  if (cut.sums && layer.depth_step > 0) {  // whole blocks only
    const auto inputs = net.layers[net.into(l)[0].from].output[layer.depth_axis];
    require(mistake::too_few_channel_blocks, inputs / layer.depth_step * layer.depth_step, layer.depth_step, ranks);
  }
  return few;
}

/// Requires that whatever replicas with first_free read is made for all frames: the rank that makes it hands out the frames.
constexpr finding check_first_free(const written_mapping& m, const graph::network_view& net) {
  meta::array<int> entry_of(net.size());
  int at = 0;
  for (const auto& e : m.entries) {
    for (const auto& list : e.work.lists)
      for (int l = list.first; l <= list.last; ++l) entry_of[l] = at;
    ++at;
  }
  for (int l = 0; l < net.size(); ++l)
    for (const auto& e : net.into(l)) {
      const auto of = [&](int t) -> const written_work& { return m.entries[entry_of[t]].work; };
      if (entry_of[l] != entry_of[e.from] && of(l).has(option::first_free) && of(e.from).dealt() != dealing::to_all)
        return {mistake::first_free_after_replicas, entry_of[l], 0, l};
    }
  return {};
}

/// Requires a mapping without other mistakes. Finds the layer with the smallest id.
constexpr finding check_parts(const written_mapping& m, const graph::network_view& net) {
  finding first;
  int at = 0, ranks = 0;
  for (const auto& e : m.entries) {
    ranks += static_cast<int>(ranks_in(e).size());
    if (e.work.splits())
      for (const auto& list : e.work.lists)
        for (int l = list.first; l <= list.last && !(first && l > first.number); ++l)
          if (const auto f = check_part(net, l, e.work, ranks)) {
            first = f;
            first.position = at;
          }
    if (ends_run(m, e)) ranks = 0;
    ++at;
  }
  for (const auto& e : m.entries)
    if (!first && e.work.has(option::first_free)) return check_first_free(m, net);
  return first;
}

}  // namespace dice::placement::detail
