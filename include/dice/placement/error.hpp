// Names that the compiler prints for a mistake in a mapping: dice::error::<mistake><what, dice::remedy::<what to do>>.
#pragma once

#include "dice/placement/mistakes.hpp"

#include <cstdint>

namespace dice::remedy {
#define DICE_DECLARES(name, arguments, remedy) struct remedy;
DICE_MISTAKES(DICE_DECLARES)
#undef DICE_DECLARES
}  // namespace dice::remedy

/// Incomplete on purpose: naming one of these is the error. Not declared by DICE_MISTAKES, since the compiler shows the line
/// of the declaration, and would show three macros.
namespace dice::error {
/// Stands for the mapping that best_mapping could not find, because of Error. Complete, so that it can be passed on to the
/// code that reports mistakes of mappings.
template <class Error> struct no_mapping final {};
/// How many more layers have the same mistake; left out if there are none.
template <int Layers> struct and_others final {};
template <class T, class Remedy> struct not_a_network;
template <class Layer, class Remedy> struct damaged_header;
template <class T, class Remedy> struct not_a_mapping;
template <class Network, class Remedy> struct split_of_another_network;
template <int Position, class Remedy> struct misplaced_entry;
template <int Rank, class Remedy> struct rank_used_twice;
template <int Rank, class Remedy> struct rank_missing;
template <int Rank, class Remedy> struct rank_not_declared;
template <int Rank, class Remedy> struct rank_twice_in_run;
template <int First, int Second, class Remedy> struct layers_on_several_devices;
template <int Rank, class Remedy> struct split_on_one_rank;
template <class T, class Remedy> struct not_a_unit;
template <int Core, class Remedy> struct core_listed_twice;
template <int Core, class Remedy> struct core_number_negative;
template <int Rank, class Remedy> struct no_core_listed;
template <int Count, class Remedy> struct too_few_threads;
template <int Count, class Remedy> struct too_many_threads;
template <class Unit, class Remedy> struct unit_without_backend;
template <int Index, class Remedy> struct gpu_number_negative;
template <int Rank, class Remedy> struct not_a_limit;
template <int Rank, class Remedy> struct precision_not_possible;
template <int Rank, class Remedy> struct memory_limit_not_positive;
template <int Rank, class Remedy> struct memory_limit_too_large;
template <int Rank, class Remedy> struct empty_host_name;
template <int Rank, class Remedy> struct rank_on_two_hosts;
template <int Frames, class Remedy> struct too_few_frames_in_flight;
template <int Frames, class Remedy> struct too_many_frames_in_flight;
template <int First, int Second, class Remedy> struct in_flight_twice;
template <class T, class Work, class Remedy> struct not_a_split_option;
template <class Work, class Remedy> struct tile_grid_not_positive;
template <class Work, int Ranks, class Remedy> struct tiles_fewer_than_ranks;
template <class Work, class Remedy> struct share_not_positive;
template <class Work, int Ranks, class Remedy> struct shares_do_not_fit_ranks;
template <class Work, class Remedy> struct exchange_every_not_positive;
template <class T, class Remedy> struct not_a_layer_of_the_network;
template <class First, class Last, class Remedy> struct range_backwards;
template <class Work, class Remedy> struct empty_layer_list;
template <int Point, class Remedy> struct split_point_out_of_range;
template <int Point, class Remedy> struct split_points_unordered;
template <int Points, int Devices, class Remedy> struct split_points_do_not_fit_devices;
template <class Layer, int First, int Second, class... OthersAndRemedy> struct layer_in_two_lists;
template <class Layer, class... OthersAndRemedy> struct layer_without_device;
template <class Layer, class Remedy> struct input_or_output_not_splittable;
template <class Layer, class Remedy> struct layer_not_splittable;
template <class Layer, std::int64_t Rows, int Ranks, class Remedy> struct too_few_rows;
template <class Layer, std::int64_t Columns, int Ranks, class Remedy> struct too_few_columns;
template <class Layer, std::int64_t Blocks, int Ranks, class Remedy> struct too_few_channel_blocks;
template <class Layer, class Remedy> struct first_free_after_replicas;
template <int Rank, std::int64_t BytesNeeded, class Remedy> struct memory_limit_less_than_plan;
template <class Layer, class Remedy> struct layer_without_kernel;
}  // namespace dice::error
