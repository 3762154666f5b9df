// The checks of a mapping. Of several mistakes the first in this order is named: network or mapping, ranks, units and
// limits, wrong entries (foreign, backwards, empty, points), two devices, no device. (The memory limit needs the plan:
// schedule/check.)
#pragma once

#include "dice/mapping/error.hpp"
#include "dice/mapping/placement.hpp"
#include "dice/meta/type_list.hpp"

#include <boost/hana/at.hpp>
#include <boost/hana/length.hpp>
#include <type_traits>

namespace dice::placement {

enum class mistake : unsigned char {
  none,
  not_a_network,
  no_mapping,
  not_a_mapping,
  other_split,
  misplaced_entry,
  rank_twice,
  rank_missing,
  unit,
  limit,
  memory_not_positive,
  precision,
  in_flight,
  foreign,
  backwards,
  empty_list,
  point_outside,
  points_unordered,
  points_count,
  two_devices,
  no_device,
};

/// The first mistake: `position` among the mapping's entries, `index` among a list's, `number` a rank, point, count or layer
/// id.
struct finding {
  mistake what = mistake::none;
  int position = 0, index = 0, number = 0;
};

namespace detail {

template <class Net, class L> constexpr bool belongs() {
  if constexpr (requires {
                  { L::id } -> std::convertible_to<int>;
                }) {
    if constexpr (L::id >= 0 && L::id < Net::size) return std::is_same_v<typename Net::template layer<L::id>, L>;
    else return false;
  } else {
    return false;
  }
}

/// What is wrong with an entry of layers<…>: 0 nothing, 1 or 2 its first or second layer is foreign, 3 it is backwards.
template <class Net, class E> struct entry_check {
  static constexpr int wrong = !belongs<Net, E>();
  using first = E;
};
template <class Net, class A, class B> struct entry_check<Net, range<A, B>> {
  static constexpr int wrong = [] {
    if constexpr (!belongs<Net, A>()) return 1;
    else if constexpr (!belongs<Net, B>()) return 2;
    else return A::id > B::id ? 3 : 0;
  }();
  using first = A;
  using second = B;
};
template <class Net, class A> struct entry_check<Net, from<A>> : entry_check<Net, A> {};
template <class Net, class A> struct entry_check<Net, to<A>> : entry_check<Net, A> {};
template <class Net> struct entry_check<Net, all> { static constexpr int wrong = 0; };

/// Index of the first entry whose check says so; -1 if none. `backwards` chooses between the two kinds of mistake.
template <class Net, class... E> constexpr int first_wrong(layers<E...>, bool backwards) {
  const int wrong[] = {0, entry_check<Net, E>::wrong...};
  for (int i = 1; i <= static_cast<int>(sizeof...(E)); ++i)
    if (wrong[i] && (wrong[i] == 3) == backwards) return i - 1;
  return -1;
}

template <class Map, class F> constexpr void each_entry(F&& f) {
  int position = 0;
  boost::hana::for_each(entries<Map>::list, [&](auto type) { f(type, position++); });
}

template <class Map> constexpr finding check_form() {
  finding found{};
  bool wants_layers = false;
  int size = 0;
  each_entry<Map>([&](auto type, int position) {
    using E = typename decltype(type)::type;
    const bool right = is_in_flight<E>       ? !wants_layers
                       : platform::is_dev<E> ? !wants_layers
                       : is_layers<E>        ? wants_layers && entries<Map>::is == form::mapping
                                             : false;
    if (!right && found.what == mistake::none) found = {mistake::misplaced_entry, position, 0, position};
    if (entries<Map>::is == form::mapping && !is_in_flight<E>) wants_layers = platform::is_dev<E>;
    size = position + 1;
  });
  if (found.what == mistake::none && (wants_layers || !count_devices<Map>()))
    found = {mistake::misplaced_entry, size, 0, size};
  return found;
}

template <class Map> constexpr finding check_ranks() {
  constexpr int n = count_devices<Map>();
  std::array<int, n> ranks{};
  int at = 0;
  each_entry<Map>([&](auto type, int) {
    using E = typename decltype(type)::type;
    if constexpr (platform::is_dev<E>) ranks[static_cast<std::size_t>(at++)] = E::rank;
  });
  for (std::size_t i = 0; i < ranks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (ranks[i] == ranks[j]) return {mistake::rank_twice, 0, 0, ranks[i]};
  for (int r = 0; r < n; ++r)
    if (std::find(ranks.begin(), ranks.end(), r) == ranks.end()) return {mistake::rank_missing, 0, 0, r};
  return {};
}

template <class Map> constexpr finding check_units() {
  finding found{};
  each_entry<Map>([&](auto type, int position) {
    using E = typename decltype(type)::type;
    finding here{};
    if constexpr (platform::is_dev<E>) {
      using traits = platform::dev_traits<E>;
      constexpr auto unit = platform::unit_traits<typename traits::unit_type>::check;
      if (unit.what != platform::unit_check::mistake::none) here = {mistake::unit, position, 0, unit.value};
      else if (traits::wrong_limit >= 0) here = {mistake::limit, position, traits::wrong_limit, E::rank};
      else if (traits::wrong_precision) here = {mistake::precision, position, 0, E::rank};
      else if (traits::bad_memory <= 0) here = {mistake::memory_not_positive, position, 0, E::rank};
    } else if constexpr (is_in_flight<E>) {
      if (frames<E> < 1) here = {mistake::in_flight, position, 0, frames<E>};
    }
    if (found.what == mistake::none) found = here;
  });
  return found;
}

template <class Net, class Map> constexpr finding check_lists() {
  finding foreign{}, backwards{}, empty{};
  int rank = 0;
  each_entry<Map>([&](auto type, int position) {
    using E = typename decltype(type)::type;
    if constexpr (platform::is_dev<E>) rank = E::rank;
    if constexpr (is_layers<E>) {
      if (const int i = first_wrong<Net>(E{}, false); i >= 0 && foreign.what == mistake::none)
        foreign = {mistake::foreign, position, i, 0};
      if (const int i = first_wrong<Net>(E{}, true); i >= 0 && backwards.what == mistake::none)
        backwards = {mistake::backwards, position, i, 0};
      if (std::is_same_v<E, layers<>> && empty.what == mistake::none) empty = {mistake::empty_list, position, 0, rank};
    }
  });
  return foreign.what != mistake::none ? foreign : backwards.what != mistake::none ? backwards : empty;
}

template <class Net, class Map> constexpr finding check_points() {
  const auto& cuts = entries<Map>::cuts;
  for (int p : cuts)
    if (p <= 0 || p >= Net::size) return {mistake::point_outside, 0, 0, p};
  for (std::size_t i = 1; i < cuts.size(); ++i)
    if (cuts[i] <= cuts[i - 1]) return {mistake::points_unordered, 0, 0, cuts[i]};
  if (static_cast<int>(cuts.size()) + 1 != count_devices<Map>())
    return {mistake::points_count, count_devices<Map>(), 0, static_cast<int>(cuts.size())};
  return {};
}

template <class Net, class Map> constexpr finding check_layers() {
  const auto m = mark_all<Net, Map>();
  for (int i = 0; i < Net::size; ++i)
    if (m.devices[static_cast<std::size_t>(i)] > 1) return {mistake::two_devices, 0, 0, i};
  for (int i = 0; i < Net::size; ++i)
    if (m.devices[static_cast<std::size_t>(i)] == 0) return {mistake::no_device, 0, 0, i};
  return {};
}

template <class Map> inline constexpr bool is_none = false;
template <class Error> inline constexpr bool is_none<error::no_mapping<Error>> = true;

template <class Net, class Map> consteval finding check() {
  if constexpr (!graph::network_type<Net>) return {mistake::not_a_network, 0, 0, 0};
  else if constexpr (is_none<Map>) return {mistake::no_mapping, 0, 0, 0};
  else if constexpr (entries<Map>::is == form::none) return {mistake::not_a_mapping, 0, 0, 0};
  else {
    if constexpr (entries<Map>::is == form::split)
      if constexpr (!std::is_same_v<typename entries<Map>::network, Net>) return {mistake::other_split, 0, 0, 0};
    if constexpr (constexpr finding f = check_form<Map>(); f.what != mistake::none) return f;
    else if constexpr (constexpr finding g = check_ranks<Map>(); g.what != mistake::none) return g;
    else if constexpr (constexpr finding u = check_units<Map>(); u.what != mistake::none) return u;
    else if constexpr (constexpr finding l = check_lists<Net, Map>(); l.what != mistake::none) return l;
    else if constexpr (entries<Map>::is == form::split) {
      if constexpr (constexpr finding p = check_points<Net, Map>(); p.what != mistake::none) return p;
      else return check_layers<Net, Map>();
    } else {
      return check_layers<Net, Map>();
    }
  }
}

template <class Net, int Index, class... E> auto pick(layers<E...>) -> meta::type_at<Index, E...>;
template <class Error> using failing = Error (*)();
template <class Error> auto reason_of(error::no_mapping<Error>) -> failing<Error>;

template <class Dev> constexpr auto unit_verdict() {
  using unit = typename platform::dev_traits<Dev>::unit_type;
  using enum platform::unit_check::mistake;
  constexpr auto c = platform::unit_traits<unit>::check;
  if constexpr (c.what == not_a_unit)
    return failing<error::not_a_unit<unit, remedy::write_cpu_or_cores_or_threads_or_gpu>>{};
  else if constexpr (c.what == core_twice) return failing<error::core_listed_twice<c.value, remedy::list_each_core_once>>{};
  else if constexpr (c.what == core_negative)
    return failing<error::core_number_negative<c.value, remedy::list_cores_by_numbers_from_0_on>>{};
  else if constexpr (c.what == no_core)
    return failing<error::no_core_listed<Dev::rank, remedy::list_cores_by_numbers_from_0_on>>{};
  else if constexpr (c.what == too_few_threads)
    return failing<error::too_few_threads<c.value, remedy::ask_for_at_least_one_thread>>{};
  else if constexpr (c.what == gpu_negative)
    return failing<error::gpu_number_negative<c.value, remedy::write_cpu_or_cores_or_threads_or_gpu>>{};
  else return failing<error::unit_without_backend<unit, remedy::build_with_the_backend_of_this_unit_or_use_a_cpu_unit>>{};
}

}  // namespace detail

/// The first mistake of mapping Map for network Net.
template <class Net, class Map> inline constexpr finding found = detail::check<Net, Map>();

/// A null pointer to a function whose return type is the named error for the first mistake, or int if there is none.
template <class Net, class Map> consteval auto verdict() {
  constexpr finding f = found<Net, Map>;
  using enum mistake;
  using detail::failing;
  if constexpr (f.what == none) return failing<int>{};
  else if constexpr (f.what == not_a_network)
    return failing<error::not_a_network<Net, remedy::pass_the_network_struct_of_a_header_made_by_onnx2hpp>>{};
  else if constexpr (f.what == no_mapping) return decltype(detail::reason_of(Map{})){};
  else if constexpr (f.what == not_a_mapping)
    return failing<error::not_a_mapping<Map, remedy::write_mapping_of_dev_and_layers>>{};
  else if constexpr (f.what == other_split)
    return failing<
        error::split_of_another_network<typename entries<Map>::network, remedy::split_the_network_passed_to_main>>{};
  else if constexpr (f.what == misplaced_entry)
    return failing<error::misplaced_entry<f.number, remedy::write_each_dev_followed_by_its_layers>>{};
  else if constexpr (f.what == rank_twice)
    return failing<error::rank_used_twice<f.number, remedy::give_each_device_a_rank_of_its_own>>{};
  else if constexpr (f.what == rank_missing)
    return failing<error::rank_missing<f.number, remedy::number_the_ranks_from_0_without_gaps>>{};
  else if constexpr (f.what == limit)
    return failing<error::not_a_limit<f.number, remedy::write_memory_or_precision_or_on_a_host>>{};
  else if constexpr (f.what == mistake::precision)
    return failing<error::precision_not_possible<f.number, remedy::give_it_once_and_only_to_gpus>>{};
  else if constexpr (f.what == memory_not_positive)
    return failing<error::memory_limit_not_positive<f.number, remedy::give_a_positive_number_of_bytes>>{};
  else if constexpr (f.what == in_flight)
    return failing<error::too_few_frames_in_flight<f.number, remedy::let_at_least_one_frame_be_in_flight>>{};
  else if constexpr (f.what == empty_list)
    return failing<error::empty_layer_list<f.number, remedy::give_the_device_at_least_one_layer>>{};
  else if constexpr (f.what == point_outside)
    return failing<error::split_point_out_of_range<f.number, remedy::keep_points_between_0_and_the_number_of_layers>>{};
  else if constexpr (f.what == points_unordered)
    return failing<error::split_points_unordered<f.number, remedy::sort_the_points_and_use_each_once>>{};
  else if constexpr (f.what == points_count)
    return failing<error::split_points_do_not_fit_devices<f.number, f.position, remedy::give_one_point_less_than_devices>>{};
  else if constexpr (f.what == two_devices)
    return failing<error::layer_on_two_devices<typename Net::template layer<f.number>,
                                               remedy::remove_it_from_one_of_the_layer_lists>>{};
  else if constexpr (f.what == no_device)
    return failing<error::layer_without_device<typename Net::template layer<f.number>, remedy::add_it_to_a_layers_list>>{};
  else {
    using E = typename std::remove_cvref_t<decltype(boost::hana::at_c<f.position>(entries<Map>::list))>::type;
    if constexpr (f.what == unit) return detail::unit_verdict<E>();
    else {
      using entry = detail::entry_check<Net, decltype(detail::pick<Net, f.index>(E{}))>;
      if constexpr (f.what == backwards)
        return failing<error::range_backwards<typename entry::first, typename entry::second, remedy::swap_first_and_last>>{};
      else if constexpr (entry::wrong == 2)
        return failing<
            error::layer_of_another_network<typename entry::second, remedy::name_layers_of_the_network_passed_to_main>>{};
      else
        return failing<
            error::layer_of_another_network<typename entry::first, remedy::name_layers_of_the_network_passed_to_main>>{};
    }
  }
}

}  // namespace dice::placement
