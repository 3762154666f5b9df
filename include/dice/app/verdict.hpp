// The last check of a mapping, which needs the kernels: every fusion group has one in its rank's backend.
#pragma once

#include "dice/cost/backend.hpp"
#include "dice/kernels/table.hpp"
#include "dice/mapping/error.hpp"
#include "dice/schedule/check.hpp"

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace dice::app {

/// The backend of fusion group g of a right mapping.
template <class Net, class Map> constexpr cost::backend backend_of_group(std::size_t g) {
  const auto rank = static_cast<std::size_t>(schedule::plan_of<Net, Map>.groups[g].rank);
  return cost::backend_of(placement::of<Net, Map>.devices[rank].on);
}

namespace detail {

/// The id of the first layer that anchors a group for which its backend has no kernel, or -1.
template <class Net, class Map> consteval int layer_without_kernel() {
  constexpr const auto& plan = schedule::plan_of<Net, Map>;
  return []<std::size_t... G>(std::index_sequence<G...>) {
    const bool has[] = {kernels::computes<kernels::tag<backend_of_group<Net, Map>(G)>,
                                          std::remove_cvref_t<decltype(Net::template layer<plan.groups[G].anchor>::op)>>...,
                        true};
    for (std::size_t g = 0; g < sizeof...(G); ++g)
      if (!has[g]) return plan.groups[g].anchor;
    return -1;
  }
  (std::make_index_sequence<plan.groups.size()>{});
}

}  // namespace detail

/// A null pointer to a function whose return type is the named error for the mapping's first mistake, or int if it has none.
template <class Net, class Map> consteval auto verdict() {
  if constexpr (!std::is_same_v<decltype(schedule::verdict<Net, Map>()()), int>) return schedule::verdict<Net, Map>();
  else if constexpr (constexpr int id = detail::layer_without_kernel<Net, Map>(); id >= 0)
    return static_cast<error::layer_without_kernel<typename Net::template layer<id>,
                                                   remedy::run_it_on_a_unit_whose_backend_has_this_operator> (*)()>(nullptr);
  else return static_cast<int (*)()>(nullptr);
}

/// Whether mapping Map is right for network Net.
template <class Net, class Map>
concept right = std::is_same_v<decltype(verdict<Net, Map>()()), int>;

}  // namespace dice::app
