// The checks of a cluster for a network, as types.
#pragma once

#include "dice/cost/profile.hpp"
#include "dice/meta/type_list.hpp"
#include "dice/partition/error.hpp"
#include "dice/platform/cluster.hpp"

#include <array>
#include <cstddef>
#include <type_traits>

namespace dice::partition {

namespace detail {

template <class Error> using failing = Error (*)();

template <class List> struct at_in;
template <class... T> struct at_in<meta::type_list<T...>> {
  template <int Index> using type = meta::type_at<static_cast<std::size_t>(Index), T...>;
};

template <class Cluster> consteval auto cluster_verdict() {
  using traits = platform::cluster_traits<Cluster>;
  constexpr auto f = traits::check;
  using enum platform::cluster_mistake;
  if constexpr (f.what == none) return failing<int>{};
  else if constexpr (f.what == not_a_cluster)
    return failing<error::not_a_cluster<Cluster, remedy::write_cluster_of_hosts_and_connections>>{};
  else if constexpr (f.what == unknown_host || f.what == connection_rate || f.what == connection_twice) {
    using all = at_in<typename traits::connections>;
    using connection = typename all::template type<f.where>;
    if constexpr (f.what == unknown_host)
      return failing<error::connection_of_unknown_host<connection, remedy::name_two_different_hosts_of_the_cluster>>{};
    else if constexpr (f.what == connection_rate)
      return failing<
          error::connection_rate_not_positive<connection, remedy::give_connections_a_speed_above_0_and_no_negative_time>>{};
    else
      return failing<
          error::connection_twice<connection, typename all::template type<f.which>, remedy::state_each_connection_once>>{};
  } else {
    using all = at_in<typename traits::hosts>;
    using host = typename all::template type<f.where>;
    if constexpr (f.what == not_a_board)
      return failing<error::not_a_board<host, remedy::write_board_of_a_name_and_ram_and_processors>>{};
    else if constexpr (f.what == no_processor)
      return failing<error::board_without_processor<host, remedy::give_the_board_a_processor>>{};
    else if constexpr (f.what == ram_missing) return failing<error::ram_missing<host, remedy::give_the_board_its_ram>>{};
    else if constexpr (f.what == host_twice)
      return failing<
          error::host_twice<host, typename all::template type<f.which>, remedy::give_each_host_a_name_of_its_own>>{};
    else if constexpr (f.what == no_connection)
      return failing<error::hosts_without_connection<host, typename all::template type<f.which>,
                                                     remedy::add_a_connection_of_every_pair_or_between_these>>{};
    else {
      using board = platform::board_traits<typename platform::host_traits<host>::board_type>;
      using processor = typename at_in<typename board::processors>::template type<f.which>;
      if constexpr (f.what == wrong_unit)
        return failing<error::not_a_processor<processor, remedy::write_processor_of_a_unit_and_its_rates_or_a_profile>>{};
      else if constexpr (f.what == rate_missing)
        return failing<error::rate_missing<processor, remedy::give_gflops_and_gbytes_per_s_or_a_profile>>{};
      else
        return failing<error::rate_not_positive<processor, remedy::give_rates_above_0_and_no_more_idle_than_busy_watts>>{};
    }
  }
}

/// Number of the first processor whose profile is wrong, or -1.
template <class Net, class... P> consteval int wrong_profile(meta::type_list<P...>) {
  int at = 0, found = -1;
  const auto look = [&]<class Measured>(meta::type_list<Measured>) {
    if constexpr (!std::is_void_v<Measured>)
      if (found < 0 && cost::check_profile<Net, Measured>().what != cost::profile_mistake::none) found = at;
    ++at;
  };
  (look(meta::type_list<typename platform::processor_traits<P>::measured>{}), ...);
  return found;
}

template <class Net, class Measured> consteval auto profile_verdict() {
  constexpr auto f = cost::check_profile<Net, Measured>();
  if constexpr (f.what == cost::profile_mistake::layer_missing)
    return failing<error::profile_without_layer<Measured, typename Net::template layer<f.layer>,
                                                remedy::measure_again_with_this_program>>{};
  else return failing<error::profile_of_another_network<Measured, Net, remedy::make_the_profile_anew_from_this_model>>{};
}

}  // namespace detail

/// A null pointer to a function whose return type is the named error for the first mistake of Cluster and its profiles of
/// network Net, or int if there is none.
template <class Net, class Cluster> consteval auto verdict() {
  if constexpr (platform::cluster_traits<Cluster>::check.what != platform::cluster_mistake::none)
    return detail::cluster_verdict<Cluster>();
  else {
    using processors = typename platform::cluster_values<Cluster>::processors;
    if constexpr (constexpr int k = detail::wrong_profile<Net>(processors{}); k >= 0) {
      using processor = typename detail::at_in<processors>::template type<k>;
      return detail::profile_verdict<Net, typename platform::processor_traits<processor>::measured>();
    } else {
      return detail::failing<int>{};
    }
  }
}

}  // namespace dice::partition
