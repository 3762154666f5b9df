// Compile-time checks of a cluster for a network.
#pragma once

#include "dice/cost/error.hpp"
#include "dice/cost/profile.hpp"
#include "dice/meta/type_list.hpp"
#include "dice/platform/cluster.hpp"
#include "dice/platform/unit.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace dice::cost {

namespace detail {

template <class Error> using failing = Error (*)();

template <class List> struct at_in;
template <class... T> struct at_in<meta::type_list<T...>> {
  template <int Index> using type = meta::type_at<static_cast<std::size_t>(Index), T...>;
};

/// The error of a connection that is wrong by itself.
template <class Connection, platform::cluster_mistake What> consteval auto connection_verdict() {
  using enum platform::cluster_mistake;
  if constexpr (What == not_a_connection)
    return failing<error::not_a_connection<Connection, remedy::write_connection_of_a_speed_and_a_latency>>{};
  else if constexpr (What == connection_rate_not_positive)
    return failing<
        error::connection_rate_not_positive<Connection, remedy::give_connections_a_speed_above_0_and_no_negative_time>>{};
  else if constexpr (What == connection_rate_too_large)
    return failing<error::connection_rate_too_large<Connection, remedy::give_rates_below_1e15_and_times_below_1e6_s>>{};
  else return failing<error::stated_twice<Connection, remedy::state_each_speed_time_and_memory_once>>{};
}

template <class Cluster> consteval auto cluster_verdict() {
  using traits = platform::cluster_traits<Cluster>;
  constexpr auto f = traits::check;
  using enum platform::cluster_mistake;
  if constexpr (f.what == none) return failing<int>{};
  else if constexpr (f.what == not_a_cluster)
    return failing<error::not_a_cluster<Cluster, remedy::write_cluster_of_hosts_and_connections>>{};
  else if constexpr (f.what == unknown_host || f.what == not_a_connection || f.what == connection_rate_not_positive ||
                     f.what == connection_rate_too_large || f.what == connection_stated_twice ||
                     f.what == connection_twice) {
    using all = at_in<typename traits::connections>;
    using connection = typename all::template type<f.where>;
    if constexpr (f.what == unknown_host)
      return failing<error::connection_of_unknown_host<connection, remedy::name_two_different_hosts_of_the_cluster>>{};
    else if constexpr (f.what == connection_twice)
      return failing<
          error::connection_twice<connection, typename all::template type<f.which>, remedy::state_each_connection_once>>{};
    else return connection_verdict<connection, f.what>();
  } else {
    using all = at_in<typename traits::hosts>;
    using host = typename all::template type<f.where>;
    if constexpr (f.what == not_a_board)
      return failing<error::not_a_board<host, remedy::write_board_of_a_name_and_ram_and_processors>>{};
    else if constexpr (f.what == no_processor)
      return failing<error::board_without_processor<host, remedy::give_the_board_a_processor>>{};
    else if constexpr (f.what == ram_missing) return failing<error::ram_missing<host, remedy::give_the_board_its_ram>>{};
    else if constexpr (f.what == ram_not_positive)
      return failing<error::ram_not_positive<host, remedy::give_a_positive_number_of_bytes>>{};
    else if constexpr (f.what == ram_too_large) return failing<error::ram_too_large<host, remedy::give_less_than_8_EiB>>{};
    else if constexpr (f.what == board_stated_twice)
      return failing<error::stated_twice<host, remedy::state_each_speed_time_and_memory_once>>{};
    else if constexpr (f.what == host_unnamed)
      return failing<error::host_without_name<host, remedy::give_each_host_a_name_of_its_own>>{};
    else if constexpr (f.what == host_twice)
      return failing<
          error::host_twice<host, typename all::template type<f.which>, remedy::give_each_host_a_name_of_its_own>>{};
    else if constexpr (f.what == no_connection)
      return failing<error::hosts_without_connection<host, typename all::template type<f.which>,
                                                     remedy::add_a_connection_of_every_pair_or_between_these>>{};
    else if constexpr (f.what == board_connection)
      return connection_verdict<
          typename platform::board_traits<typename platform::host_traits<host>::board_type>::own_connection,
          static_cast<platform::cluster_mistake>(f.which)>();
    else {
      using board = platform::board_traits<typename platform::host_traits<host>::board_type>;
      using processor = typename at_in<typename board::processors>::template type<f.which>;
      if constexpr (f.what == wrong_unit)
        return failing<error::not_a_processor<processor, remedy::write_processor_of_a_unit_and_its_rates_or_a_profile>>{};
      else if constexpr (f.what == stated_twice)
        return failing<error::stated_twice<processor, remedy::state_each_speed_time_and_memory_once>>{};
      else if constexpr (f.what == rate_missing)
        return failing<error::rate_missing<processor, remedy::give_gflops_and_gbytes_per_s_or_a_profile>>{};
      else if constexpr (f.what == rate_too_large)
        return failing<error::rate_too_large<processor, remedy::give_rates_below_1e15_and_times_below_1e6_s>>{};
      else
        return failing<error::rate_not_positive<processor, remedy::give_rates_above_0_and_no_more_idle_than_busy_watts>>{};
    }
  }
}

/// Whether the unit on which a profile was measured, as --measure writes it, cannot be `on`: one is a CPU and the other a
/// GPU, or both state a number of threads and these differ, or only one computes convolutions directly. `cpu` states no
/// number; any other text was written by hand and is accepted.
constexpr bool other_unit(std::string_view measured, const platform::unit& on) {
  using argument = platform::unit_word::argument;
  constexpr std::string_view limit = ", direct_convolutions";
  const bool direct = measured.ends_with(limit);
  if (direct) measured.remove_suffix(limit.size());
  const auto word = measured.substr(0, measured.find_first_of("<,"));
  const auto* w = std::begin(platform::unit_words);
  while (w != std::end(platform::unit_words) && w->word != word) ++w;
  if (w == std::end(platform::unit_words)) return false;
  if (platform::unit{.what = w->what}.processor() != on.processor() || direct != on.direct) return true;
  const auto arguments = measured.substr(word.size());
  int count = w->takes == argument::cores ? 1 + static_cast<int>(std::count(arguments.begin(), arguments.end(), ',')) : 0;
  if (w->takes == argument::count)
    for (const char c : arguments)
      if (c >= '0' && c <= '9' && count < 1'000'000) count = 10 * count + (c - '0');
  return count > 0 && on.count > 0 && count != on.count;
}

template <class Measured> consteval bool of_another_unit(const platform::unit& on) {
  if constexpr (requires { std::string_view(Measured::unit); }) return other_unit(Measured::unit, on);
  else return false;
}

/// Index of the first processor whose profile is wrong, or -1.
template <class Net, class... P> consteval int wrong_profile(meta::type_list<P...>) {
  int at = 0, found = -1;
  const auto look = [&]<class Processor>(meta::type_list<Processor>) {
    using measured = typename platform::processor_traits<Processor>::measured;
    if constexpr (!std::is_void_v<measured>)
      if (found < 0 && (cost::check_profile<Net, measured>().what != cost::profile_mistake::none ||
                        of_another_unit<measured>(platform::processor_traits<Processor>::value.unit)))
        found = at;
    ++at;
  };
  (look(meta::type_list<P>{}), ...);
  return found;
}

template <class Net, class Processor> consteval auto profile_verdict() {
  using Measured = typename platform::processor_traits<Processor>::measured;
  constexpr auto f = cost::check_profile<Net, Measured>();
  if constexpr (f.what == cost::profile_mistake::none)
    return failing<error::profile_of_another_unit<Measured, Processor,
                                                  remedy::give_the_profile_of_this_unit_or_name_the_unit_measured>>{};
  else if constexpr (f.what == cost::profile_mistake::layer_missing)
    return failing<error::profile_without_layer<Measured, typename Net::template layer<f.layer>,
                                                remedy::measure_a_plan_that_has_all_layers_on_this_kind_of_unit>>{};
  else return failing<error::profile_of_another_network<Measured, Net, remedy::profile_this_model_again>>{};
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
      return detail::profile_verdict<Net, processor>();
    } else {
      return detail::failing<int>{};
    }
  }
}

}  // namespace dice::cost
