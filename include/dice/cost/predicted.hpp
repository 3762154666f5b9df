#pragma once

#include "dice/cost/check.hpp"
#include "dice/cost/setting_of.hpp"
#include "dice/cost/simulate.hpp"
#include "dice/placement/placement.hpp"
#include "dice/schedule/check.hpp"
#include "dice/schedule/static_plan.hpp"

#include <array>
#include <cstddef>
#include <type_traits>

namespace dice {
namespace cost {

namespace detail {

template <class Net, class Map, class Cluster> consteval auto placed() {
  constexpr const auto& devices = placement::of<Net, Map>.devices;
  std::array<placed_rank, devices.size()> out{};
  place_ranks(devices, platform::cluster_values<Cluster>::view, out.data());
  return out;
}

/// The ranks of valid mapping Map on valid cluster Cluster.
template <class Net, class Map, class Cluster> inline constexpr auto ranks = placed<Net, Map, Cluster>();

/// A null pointer to a function whose return type is the named error for the first mistake of Cluster for the mapping Map,
/// whose own words are right, or int.
template <class Net, class Map, class Cluster> consteval auto cluster_verdict_for() {
  if constexpr (!std::is_same_v<decltype(verdict<Net, Cluster>()()), int>) return verdict<Net, Cluster>();
  else if constexpr (constexpr int r = misplaced_rank(ranks<Net, Map, Cluster>, platform::cluster_values<Cluster>::view);
                     r >= 0) {
    constexpr int h = ranks<Net, Map, Cluster>[r].on_host;
    if constexpr (h < 0) return failing<error::rank_on_unknown_host<r, remedy::tie_the_rank_to_a_host_of_the_cluster>>{};
    else
      return failing<
          error::unit_not_on_host<r, typename at_in<typename platform::cluster_traits<Cluster>::hosts>::template type<h>,
                                  remedy::choose_a_unit_that_the_board_of_this_host_has>>{};
  } else {
    return failing<int>{};
  }
}

/// The same for the first mistake of Map or Cluster.
template <class Net, class Map, class Cluster> consteval auto prediction_verdict() {
  if constexpr (!std::is_same_v<decltype(schedule::verdict<Net, Map>()()), int>) return schedule::verdict<Net, Map>();
  else return cluster_verdict_for<Net, Map, Cluster>();
}

template <class Net, class Map, class Cluster>
using prediction_or_error = std::conditional_t<std::is_same_v<decltype(prediction_verdict<Net, Map, Cluster>()()), int>,
                                               prediction, decltype(prediction_verdict<Net, Map, Cluster>()())>;

/// The network to which the plan of Map refers.
template <class Net, class Map> constexpr parts::parts_view parts_view_of() {
  if constexpr (schedule::detail::splits<Net, Map>) return schedule::parts_of<Net, Map>;
  else return {.net = graph::view_of<Net>};
}

template <class Net, class Map, class Cluster> constexpr auto predict_mapping() {
  if constexpr (!std::is_same_v<prediction_or_error<Net, Map, Cluster>, prediction>) return;
  else
    return simulate(setting_of<Net, Cluster>, parts_view_of<Net, Map>(), schedule::plan_of<Net, Map>,
                    ranks<Net, Map, Cluster>)
        .expected;
}

}  // namespace detail
}  // namespace cost

/// The prediction for mapping Map of network Net on cluster Cluster: a cost::prediction with throughput (frames/s), latency
/// (s), energy (J per frame) and memory (bytes, of the rank that needs most). Ranks without on<…> take the hosts in order.
/// If Map or Cluster has a mistake, the type is an incomplete one that names it.
template <class Net, class Map, class Cluster>
inline constexpr cost::detail::prediction_or_error<Net, Map, Cluster> predicted =
    cost::detail::predict_mapping<Net, Map, Cluster>();

}  // namespace dice
