#pragma once

#include "dice/placement/assign.hpp"
#include "dice/placement/types.hpp"

#include <array>

namespace dice::placement {

/// The result for a network of `Size` layers: rank of each layer, devices in order of rank, and the work items.
template <int Size, int Ranks, int Works, int RunRanks, int Shares> struct table {
  std::array<int, Size> owner{};  ///< of a layer in parts, the first rank of its run
  std::array<platform::device, Ranks> devices{};
  int in_flight = 1;
  std::array<int, Size> work_of{};
  std::array<work_item, Works> work_items{};
  std::array<int, RunRanks> run_ranks{};
  std::array<int, Shares> shares{};

  constexpr assignment view() const { return {owner, work_of, {work_items.data(), work_items.size()}, run_ranks, shares}; }
};

namespace detail {

template <class Net, class Map> consteval auto placed() {
  constexpr auto& m = written<Net, Map>;
  constexpr auto n = count_work_items(m);
  table<Net::size, count_devices(m), n.work_items, n.run_ranks, n.shares> t{};
  t.in_flight = assign_devices(m, t.devices.data());
  assign_work_items(m, Net::size,
                    {t.owner.data(), t.work_of.data(), t.work_items.data(), t.run_ranks.data(), t.shares.data()});
  return t;
}

}  // namespace detail

/// The placement of a mapping in which `check` finds no mistake.
template <class Net, class Map> inline constexpr auto of = detail::placed<Net, Map>();

}  // namespace dice::placement
