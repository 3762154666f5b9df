// Replicas: which frames a rank computes.
#pragma once

#include <cstdint>

namespace dice::parts {

/// A rank that computes whole layers for some frames, and its share of these.
struct replica {
  int rank = 0, share = 1;
  friend constexpr bool operator==(const replica&, const replica&) = default;
};

/// Ranks of which one computes a frame's layers: the set's members, in the order of its run.
struct replica_set {
  int first = 0, members = 0;  ///< in an array of the members of all sets
  int decides = -1;            ///< the rank that gives each frame to the first free member; -1: they take turns
  friend constexpr bool operator==(const replica_set&, const replica_set&) = default;
};

/// The frames of one member of a set of replicas; of all frames if `set` is -1.
struct turn {
  int set = -1, member = 0;

  constexpr bool always() const { return set < 0; }
  friend constexpr bool operator==(const turn&, const turn&) = default;
};

/// The member whose turn frame `frame` is, if members take turns in proportion to their shares (`all`: the members of all
/// sets): evenly mixed, so that shares 3, 2, 1 give 0, 1, 0, 1, 0, 2, …. Of the frames that no earlier member takes, each
/// takes its share as a line of that slope takes pixels (Bresenham).
constexpr int member_of(const replica_set& set, const replica* all, std::int64_t frame) {
  __extension__ using wide = __int128;  // products of sums of shares
  wide left = 0;
  for (int i = 0; i < set.members; ++i) left += all[set.first + i].share;
  wide at = frame % left;
  for (int i = 0; i + 1 < set.members; ++i) {
    const wide own = all[set.first + i].share;
    const auto before = [&](wide f) { return (f * own + left - 1) / left; };  // of its frames, those before f
    if (before(at + 1) > before(at)) return i;
    at -= before(at);
    left -= own;
  }
  return set.members - 1;
}

}  // namespace dice::parts
