// The first mistake of a mapping as a type: what the compiler names.
#pragma once

#include "dice/meta/type_list.hpp"
#include "dice/placement/check.hpp"
#include "dice/placement/error.hpp"
#include "dice/placement/types.hpp"

#include <boost/hana/at.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <type_traits>

namespace dice::placement {

namespace detail {

template <class Error> using failing = Error (*)();

template <class Map> inline constexpr bool is_none = false;
template <class Error> inline constexpr bool is_none<error::no_mapping<Error>> = true;
template <class Error> auto reason_of(error::no_mapping<Error>) -> failing<Error>;

template <class Net, class Map> consteval finding find() {
  if constexpr (!graph::network_type<Net>) return {mistake::not_a_network};
  else if constexpr (constexpr int damaged = graph::detail::table<Net>.damaged; damaged >= 0)
    return {.what = mistake::damaged_header, .number = damaged};
  else if constexpr (is_none<Map>) return {mistake::no_mapping};
  else return check(written<Net, Map>, graph::view_of<Net>);
}

/// The layers that an entry of layers<…> names.
template <class T> struct ends {
  using first = T;
  using last = T;
};
template <class A, class B> struct ends<range<A, B>> {
  using first = A;
  using last = B;
};
template <class A> struct ends<from<A>> : ends<A> {};
template <class A> struct ends<to<A>> : ends<A> {};

/// The layer or option of a work.
template <int Index, template <class...> class Work, class... E>
auto pick(Work<E...>) -> std::type_identity<meta::type_at<Index, E...>>;
template <int Index, int Rows, int Columns, class... E>
auto pick(tiles<Rows, Columns, E...>) -> std::type_identity<meta::type_at<Index, E...>>;

/// The type of an entry of a mapping, or of a split after its points.
template <int Position, class... E>
auto entry_at(const mapping<E...>*)
    -> std::remove_cvref_t<decltype(boost::hana::at_c<Position>(boost::hana::tuple_t<E...>))>;
template <int Position, class Net, class Points, class... E>
auto entry_at(const split<Net, Points, E...>*)
    -> std::remove_cvref_t<decltype(boost::hana::at_c<Position>(boost::hana::tuple_t<E...>))>;

constexpr bool of_a_work(mistake what) {
  using enum mistake;
  return what == tile_grid || what == few_tiles || what == share_not_positive || what == shares_count ||
         what == mistake::exchange_every || what == empty_list;
}

/// The error of a work without layers, or with wrong numbers.
template <mistake What, class Work, int Ranks> constexpr auto of_work() {
  if constexpr (What == mistake::tile_grid)
    return failing<error::tile_grid_not_positive<Work, remedy::give_at_least_one_row_and_one_column>>{};
  else if constexpr (What == mistake::few_tiles)
    return failing<error::tiles_fewer_than_ranks<Work, Ranks, remedy::write_at_least_as_many_tiles_as_ranks>>{};
  else if constexpr (What == mistake::share_not_positive)
    return failing<error::share_not_positive<Work, remedy::give_each_device_a_positive_share>>{};
  else if constexpr (What == mistake::shares_count)
    return failing<error::shares_do_not_fit_ranks<Work, Ranks, remedy::give_one_share_for_each_device_of_the_run>>{};
  else if constexpr (What == mistake::exchange_every)
    return failing<error::exchange_every_not_positive<Work, remedy::give_a_positive_number_of_layers>>{};
  else return failing<error::empty_layer_list<Work, remedy::give_it_at_least_one_layer>>{};
}

/// The error of a layer that cannot be in parts, or in so many.
template <mistake What, class Layer, std::int64_t Units, int Ranks> constexpr auto of_parts() {
  using whole = remedy::run_it_as_a_whole_in_a_layers_list;
  using fewer = remedy::make_fewer_parts_or_split_it_in_another_way_or_not_at_all;
  if constexpr (What == mistake::end_in_parts) return failing<error::input_or_output_not_splittable<Layer, whole>>{};
  else if constexpr (What == mistake::not_in_parts) return failing<error::layer_not_splittable<Layer, whole>>{};
  else if constexpr (What == mistake::few_rows) return failing<error::too_few_rows<Layer, Units, Ranks, fewer>>{};
  else if constexpr (What == mistake::few_columns) return failing<error::too_few_columns<Layer, Units, Ranks, fewer>>{};
  else if constexpr (What == mistake::few_blocks)
    return failing<error::too_few_channel_blocks<Layer, Units, Ranks, fewer>>{};
  else return failing<error::first_free_after_replicas<Layer, remedy::give_it_shares_or_put_a_layer_between>>{};
}

}  // namespace detail

/// The first mistake of mapping Map for network Net.
template <class Net, class Map> inline constexpr finding found = detail::find<Net, Map>();

/// A null pointer to a function whose return type is the named error for the first mistake, or int if there is none.
template <class Net, class Map> consteval auto verdict() {
  constexpr finding f = found<Net, Map>;
  using enum mistake;
  using detail::failing;
  if constexpr (f.what == none) return failing<int>{};
  else if constexpr (f.what == not_a_network)
    return failing<error::not_a_network<Net, remedy::pass_the_network_struct_of_a_header_made_by_onnx2hpp>>{};
  else if constexpr (f.what == damaged_header)
    return failing<
        error::damaged_header<typename Net::template layer<f.number>, remedy::make_the_header_anew_with_onnx2hpp>>{};
  else if constexpr (f.what == no_mapping) return decltype(detail::reason_of(Map{})){};
  else if constexpr (f.what == not_a_mapping)
    return failing<error::not_a_mapping<Map, remedy::write_mapping_of_dev_and_layers>>{};
  else if constexpr (f.what == other_split)
    return failing<
        error::split_of_another_network<typename entries<Map>::network, remedy::split_the_network_passed_to_main>>{};
  else if constexpr (f.what == misplaced_entry)
    return failing<error::misplaced_entry<f.number, remedy::write_devices_followed_by_their_work>>{};
  else if constexpr (f.what == rank_twice)
    return failing<
        error::rank_used_twice<f.number, remedy::give_each_device_a_rank_of_its_own_or_name_it_again_with_ranks>>{};
  else if constexpr (f.what == rank_missing)
    return failing<error::rank_missing<f.number, remedy::number_the_ranks_from_0_without_gaps>>{};
  else if constexpr (f.what == not_declared)
    return failing<error::rank_not_declared<f.number, remedy::declare_its_device_with_dev>>{};
  else if constexpr (f.what == twice_in_run)
    return failing<error::rank_twice_in_run<f.number, remedy::name_each_rank_once_in_a_run>>{};
  else if constexpr (f.what == layers_on_several)
    return failing<
        error::layers_on_several_devices<f.number, f.more, remedy::write_one_device_before_layers_or_split_the_layers>>{};
  else if constexpr (f.what == split_on_one)
    return failing<error::split_on_one_rank<f.number, remedy::name_several_devices_or_write_layers>>{};
  else if constexpr (f.what == core_twice) return failing<error::core_listed_twice<f.number, remedy::list_each_core_once>>{};
  else if constexpr (f.what == core_negative)
    return failing<error::core_number_negative<f.number, remedy::list_cores_by_numbers_from_0_on>>{};
  else if constexpr (f.what == no_core)
    return failing<error::no_core_listed<f.number, remedy::list_cores_by_numbers_from_0_on>>{};
  else if constexpr (f.what == too_few_threads)
    return failing<error::too_few_threads<f.number, remedy::ask_for_at_least_one_thread>>{};
  else if constexpr (f.what == too_many_threads)
    return failing<error::too_many_threads<f.number, remedy::ask_for_at_most_1024_threads>>{};
  else if constexpr (f.what == gpu_negative)
    return failing<error::gpu_number_negative<f.number, remedy::write_cpu_or_cores_or_threads_or_gpu>>{};
  else if constexpr (f.what == not_a_limit)
    return failing<error::not_a_limit<f.number, remedy::write_memory_or_precision_or_direct_convolutions_or_on_a_host>>{};
  else if constexpr (f.what == mistake::precision)
    return failing<error::precision_not_possible<f.number, remedy::give_it_once_and_only_to_gpus>>{};
  else if constexpr (f.what == memory_not_positive)
    return failing<error::memory_limit_not_positive<f.number, remedy::give_a_positive_number_of_bytes>>{};
  else if constexpr (f.what == memory_too_large)
    return failing<error::memory_limit_too_large<f.number, remedy::give_less_than_8_EiB>>{};
  else if constexpr (f.what == no_host_name)
    return failing<error::empty_host_name<f.number, remedy::write_the_name_of_a_host>>{};
  else if constexpr (f.what == two_hosts) return failing<error::rank_on_two_hosts<f.number, remedy::name_one_host>>{};
  else if constexpr (f.what == too_few_frames)
    return failing<error::too_few_frames_in_flight<f.number, remedy::let_at_least_one_frame_be_in_flight>>{};
  else if constexpr (f.what == too_many_frames)
    return failing<error::too_many_frames_in_flight<f.number, remedy::let_at_most_1000000_frames_be_in_flight>>{};
  else if constexpr (f.what == mistake::in_flight_twice)
    return failing<error::in_flight_twice<f.number, f.more, remedy::write_in_flight_once>>{};
  else if constexpr (f.what == point_outside)
    return failing<error::split_point_out_of_range<f.number, remedy::keep_points_between_0_and_the_number_of_layers>>{};
  else if constexpr (f.what == points_unordered)
    return failing<error::split_points_unordered<f.number, remedy::sort_the_points_and_use_each_once>>{};
  else if constexpr (f.what == points_count)
    return failing<error::split_points_do_not_fit_devices<f.number, f.more, remedy::give_one_point_less_than_devices>>{};
  else if constexpr (f.what == two_devices) {
    using layer = typename Net::template layer<f.number>;
    using fix = remedy::remove_it_from_one_of_the_layer_lists;
    if constexpr (f.more == 0) return failing<error::layer_in_two_lists<layer, f.ranks[0], f.ranks[1], fix>>{};
    else return failing<error::layer_in_two_lists<layer, f.ranks[0], f.ranks[1], error::and_others<f.more>, fix>>{};
  } else if constexpr (f.what == no_device) {
    using layer = typename Net::template layer<f.number>;
    using fix = remedy::add_it_to_a_layers_list;
    if constexpr (f.more == 0) return failing<error::layer_without_device<layer, fix>>{};
    else return failing<error::layer_without_device<layer, error::and_others<f.more>, fix>>{};
  } else if constexpr (f.what >= end_in_parts && f.what <= free_after_replicas)
    return detail::of_parts<f.what, typename Net::template layer<f.number>, f.units, f.more>();
  else {
    using E = typename decltype(detail::entry_at<f.position>(static_cast<const typename normal<Map>::type*>(nullptr)))::type;
    if constexpr (f.what == not_a_unit || f.what == no_backend) {
      using unit = typename platform::dev_traits<E>::unit_type;
      if constexpr (f.what == not_a_unit)
        return failing<error::not_a_unit<unit, remedy::write_cpu_or_cores_or_threads_or_gpu>>{};
      else return failing<error::unit_without_backend<unit, remedy::link_dice_cudnn_or_use_a_cpu_unit>>{};
    } else if constexpr (detail::of_a_work(f.what)) return detail::of_work<f.what, E, f.more>();
    else {
      using part = typename decltype(detail::pick<f.index>(E{}))::type;
      using layer = detail::ends<part>;
      if constexpr (f.what == not_an_option)
        return failing<
            error::not_a_split_option<part, E, remedy::write_the_layers_first_and_then_options_of_this_split_each_once>>{};
      else if constexpr (f.what == backwards)
        return failing<error::range_backwards<typename layer::first, typename layer::last, remedy::swap_first_and_last>>{};
      else if constexpr (detail::id_of<Net, typename layer::first> < 0)
        return failing<
            error::not_a_layer_of_the_network<typename layer::first, remedy::name_layers_of_the_network_passed_to_main>>{};
      else
        return failing<
            error::not_a_layer_of_the_network<typename layer::last, remedy::name_layers_of_the_network_passed_to_main>>{};
    }
  }
}

}  // namespace dice::placement
