// Names that the compiler prints for a mistake in a mapping: dice::error::<mistake><what, dice::remedy::<what to do>>.
#pragma once

#include <cstdint>

namespace dice::remedy {
struct pass_the_network_struct_of_a_header_made_by_onnx2hpp;
struct make_the_header_anew_with_onnx2hpp;
struct write_mapping_of_dev_and_layers;
struct split_the_network_passed_to_main;
struct write_devices_followed_by_their_work;
struct give_each_device_a_rank_of_its_own_or_name_it_again_with_ranks;
struct number_the_ranks_from_0_without_gaps;
struct declare_its_device_with_dev;
struct name_each_rank_once_in_a_run;
struct write_one_device_before_layers_or_split_the_layers;
struct name_several_devices_or_write_layers;
struct write_cpu_or_cores_or_threads_or_gpu;
struct list_each_core_once;
struct list_cores_by_numbers_from_0_on;
struct ask_for_at_least_one_thread;
struct ask_for_at_most_1024_threads;
struct link_dice_cudnn_or_use_a_cpu_unit;
struct write_memory_or_precision_or_direct_convolutions_or_on_a_host;
struct give_it_once_and_only_to_gpus;
struct give_a_positive_number_of_bytes;
struct give_less_than_8_EiB;
struct write_the_name_of_a_host;
struct name_one_host;
struct let_at_least_one_frame_be_in_flight;
struct let_at_most_1000000_frames_be_in_flight;
struct write_in_flight_once;
struct write_the_layers_first_and_then_options_of_this_split_each_once;
struct give_at_least_one_row_and_one_column;
struct write_at_least_as_many_tiles_as_ranks;
struct give_each_device_a_positive_share;
struct give_one_share_for_each_device_of_the_run;
struct give_a_positive_number_of_layers;
struct name_layers_of_the_network_passed_to_main;
struct swap_first_and_last;
struct give_it_at_least_one_layer;
struct keep_points_between_0_and_the_number_of_layers;
struct sort_the_points_and_use_each_once;
struct give_one_point_less_than_devices;
struct remove_it_from_one_of_the_layer_lists;
struct add_it_to_a_layers_list;
struct run_it_as_a_whole_in_a_layers_list;
struct make_fewer_parts_or_split_it_in_another_way_or_not_at_all;
struct give_it_shares_or_put_a_layer_between;
struct raise_the_limit_or_move_layers_to_another_device;
struct run_it_on_a_unit_whose_backend_has_this_operator;
}  // namespace dice::remedy

/// Incomplete on purpose: naming one of these is the error.
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
