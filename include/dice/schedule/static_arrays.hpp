// The arrays that hold the plans of static_plan.hpp and static_split.hpp, and their inputs.
#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/algorithm/table.hpp"
#include "dice/placement/placement.hpp"
#include "dice/schedule/build.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace dice::schedule::detail {

/// A plan in arrays of maximum size, and how much of them it fills; never part of a program.
template <plan_sizes Most> struct roomy_arrays {
  basic_plan<meta::in_fixed_arrays<Most>> data{};
  plan_sizes used{};

  constexpr explicit roomy_arrays(const built_plan& p) : used(meta::sizes_of<plan_sizes>(p)) {
    if (fits()) meta::copy_lists(data, p, used);
    data.in_flight = p.in_flight;
  }
  /// Whether there is room for all conversions.
  constexpr bool fits() const {
    return used.steps <= Most.steps && used.operands <= Most.operands && used.buffers <= Most.buffers;
  }
};

/// Conversions for which there is room at first: all tensors could be converted, but few are, and room costs the compiler
/// memory.
constexpr std::size_t few_conversions(std::size_t layers) { return 16 + layers / 16; }

/// The plan that a roomy_arrays has, in arrays of the size that it uses.
template <plan_sizes Used> consteval auto trim(const auto& from) {
  basic_plan<meta::in_fixed_arrays<Used>> out{.in_flight = from.in_flight};
  meta::copy_lists(out, from, Used);
  return out;
}

/// Whether a device of the mapping has a memory limit, and whether one has direct_convolutions.
template <class Net, class Map>
inline constexpr bool has_limits = std::any_of(placement::of<Net, Map>.devices.begin(),
                                               placement::of<Net, Map>.devices.end(),
                                               [](const auto& d) { return d.memory_limit >= 0; });
template <class Net, class Map>
inline constexpr bool has_direct = std::any_of(placement::of<Net, Map>.devices.begin(),
                                               placement::of<Net, Map>.devices.end(),
                                               [](const auto& d) { return d.unit.direct; });

template <class Net> using algorithms_of = std::array<algorithm::choice, Net::size>;

/// Adds the tables of method M if a device of the mapping needs them.
template <class Net, class Map, algorithm::method M> constexpr void add_tables(algorithm::tables& to) {
  constexpr const auto& devices = placement::of<Net, Map>.devices;
  constexpr auto uses = [](const platform::device& d) { return algorithm::method_of(d.unit) == M; };
  if constexpr (std::any_of(devices.begin(), devices.end(), uses)) {
    to.chosen[M] = algorithm::choices<Net, M>;
    if constexpr (has_limits<Net, Map>) to.smallest[M] = algorithm::smallest_choices<Net, M>;
    if constexpr (has_direct<Net, Map>) to.direct[M] = algorithm::direct_choices<Net, M>;
  }
}

template <class Net, class Map> constexpr algorithm::tables tables() {
  algorithm::tables out;
  algorithm::for_each_method([&]<algorithm::method M>() { add_tables<Net, Map, M>(out); });
  return out;
}

}  // namespace dice::schedule::detail
