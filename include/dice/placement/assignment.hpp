// Which ranks compute which layers, whole or in parts: the mapping's work items as values.
#pragma once

#include "dice/meta/view.hpp"
#include "dice/placement/written.hpp"

#include <cstddef>

namespace dice::placement {

/// Layers that one rank computes whole, or that a run of ranks computes in parts.
struct work_item {
  geometry cut = geometry::whole;
  dealing dealt = dealing::to_all;
  int first_rank = 0, ranks = 0;    ///< its run, in order, in assignment::run_ranks
  int first_share = 0, shares = 0;  ///< one for each rank, in assignment::shares; 0 shares: equal ones
  int down = 1, across = 1;         ///< rows and columns of a grid
  int exchange_every = 1;           ///< layers with windows from one exchange to the next

  /// Whether ranks have a part of each layer, smaller than the whole.
  constexpr bool has_parts() const { return cut != geometry::whole; }
  /// Whether one of its ranks computes all of a frame.
  constexpr bool has_replicas() const { return dealt != dealing::to_all; }
  friend constexpr bool operator==(const work_item&, const work_item&) = default;
};

/// Which ranks compute the layers of a network.
struct assignment {
  meta::view<int> owner;             ///< by layer: its rank; of a layer in parts, the first rank of its run
  meta::view<int> work_of;           ///< by layer: its work in `work_items`
  meta::view<work_item> work_items;  ///< in the order of the mapping
  meta::view<int> run_ranks;         ///< of all work items
  meta::view<int> shares;            ///< of all work items, positive

  constexpr const work_item& of(int layer) const { return work_items[work_of[layer]]; }
  constexpr meta::view<int> ranks_of(const work_item& w) const { return run_ranks.subview(w.first_rank, w.ranks); }
  /// Empty if they are equal.
  constexpr meta::view<int> shares_of(const work_item& w) const { return shares.subview(w.first_share, w.shares); }
  /// Whether any layer is computed in parts or by replicas.
  constexpr bool splits() const {
    for (const auto& w : work_items)
      if (w.has_parts() || w.has_replicas()) return true;
    return false;
  }
};

/// How many work items a mapping has, ranks in all their runs, and shares.
struct work_counts {
  int work_items = 0, run_ranks = 0, shares = 0;
};
constexpr work_counts count_work_items(const written_mapping& m) {
  work_counts n;
  for (const auto& e : m.entries) {
    n.work_items += ends_run(m, e);
    n.run_ranks += static_cast<int>(ranks_in(e).size());
    n.shares += static_cast<int>(e.work.shares.size());
  }
  return n;
}

/// Where an assignment is written: the arrays of assignment, as many elements as there are layers or as work_counts says.
struct assignment_space {
  int *owner, *work_of;
  work_item* work_items;
  int *run_ranks, *shares;
};

}  // namespace dice::placement
