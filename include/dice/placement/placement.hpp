#pragma once

#include "dice/placement/assign.hpp"
#include "dice/placement/types.hpp"

#include <array>

namespace dice::placement {

/// The result for a network of `Size` layers: rank of each layer, devices in order of rank.
template <int Size, int Ranks> struct table {
  std::array<int, Size> owner{};
  std::array<platform::device, Ranks> devices{};
  int in_flight = 1;
};

namespace detail {

template <class Net, class Map> consteval auto placed() {
  table<Net::size, count_devices(written<Net, Map>)> t{};
  t.in_flight = assign(written<Net, Map>, Net::size, t.owner.data(), t.devices.data());
  return t;
}

}  // namespace detail

/// The placement of a mapping in which `check` finds no mistake.
template <class Net, class Map> inline constexpr auto of = detail::placed<Net, Map>();

}  // namespace dice::placement
