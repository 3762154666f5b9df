#pragma once

#include "dice/mapping/verdict.hpp"
#include "dice/schedule/static_plan.hpp"

namespace dice::schedule {

/// First rank whose memory limit is less than the plan needs (weights and arena, in bytes), or -1.
template <class Net, class Map> consteval int rank_over_limit() {
  for (const auto& r : plan_of<Net, Map>.ranks) {
    const auto limit = placement::of<Net, Map>.devices[static_cast<std::size_t>(r.rank)].memory_limit;
    if (limit >= 0 && r.peak_bytes > limit) return r.rank;
  }
  return -1;
}

/// A null pointer to a function whose return type is the named error for the first mistake of the mapping, the memory limits
/// included, or int if there is none.
template <class Net, class Map> consteval auto verdict() {
  if constexpr (placement::found<Net, Map>.what != placement::mistake::none) return placement::verdict<Net, Map>();
  else if constexpr (constexpr int r = rank_over_limit<Net, Map>(); r >= 0)
    return static_cast<error::memory_limit_less_than_plan<r, plan_of<Net, Map>.ranks[r].peak_bytes,
                                                          remedy::raise_the_limit_or_move_layers_to_another_device> (*)()>(
        nullptr);
  else return static_cast<int (*)()>(nullptr);
}

}  // namespace dice::schedule
