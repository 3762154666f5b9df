// The mistakes of mappings (docs/dsl.md#mistakes).
#pragma once

/// Calls the macro X(name, arguments, remedy) for each mistake, in the order of the page. The compiler prints
/// error::name<arguments, remedy::…>; texts say the name, and the remedy's words. The arguments are those of
/// placement::failure(), whose finding is f.
// clang-format off
#define DICE_MISTAKES(X) \
  X(not_a_network, (Net,), pass_the_network_struct_of_a_header_made_by_onnx2hpp) \
  X(damaged_header, (layer_found<Net, f>,), regenerate_the_header_with_onnx2hpp) \
  X(not_a_mapping, (Map,), write_mapping_of_dev_and_layers) \
  X(split_of_another_network, (typename entries<Map>::network,), split_the_network_passed_to_main) \
  X(misplaced_entry, (f.number,), write_devices_followed_by_their_work) \
  X(rank_used_twice, (f.number,), give_each_device_a_rank_of_its_own_or_name_it_again_with_ranks) \
  X(rank_missing, (f.number,), number_the_ranks_from_0_without_gaps) \
  X(rank_not_declared, (f.number,), declare_its_device_with_dev) \
  X(rank_twice_in_run, (f.number,), name_each_rank_once_in_a_run) \
  X(layers_on_several_devices, (f.number, f.more,), write_one_device_before_layers_or_split_the_layers) \
  X(split_on_one_rank, (f.number,), name_several_devices_or_write_layers) \
  X(not_a_unit, (unit_found<Map, f>,), write_cpu_or_cores_or_threads_or_gpu) \
  X(core_listed_twice, (f.number,), list_each_core_once) \
  X(core_number_negative, (f.number,), use_core_numbers_from_0) \
  X(no_core_listed, (f.number,), use_core_numbers_from_0) \
  X(too_few_threads, (f.number,), ask_for_at_least_one_thread) \
  X(too_many_threads, (f.number,), ask_for_at_most_1024_threads) \
  X(gpu_number_negative, (f.number,), write_cpu_or_cores_or_threads_or_gpu) \
  X(unit_without_backend, (unit_found<Map, f>,), link_dice_cudnn_or_use_a_cpu_unit) \
  X(not_a_limit, (f.number,), write_memory_or_precision_or_direct_convolutions_or_on_a_host) \
  X(precision_not_possible, (f.number,), give_it_once_and_only_to_gpus) \
  X(memory_limit_not_positive, (f.number,), give_a_positive_number_of_bytes) \
  X(memory_limit_too_large, (f.number,), give_less_than_8_EiB) \
  X(empty_host_name, (f.number,), write_the_name_of_a_host) \
  X(rank_on_two_hosts, (f.number,), name_one_host) \
  X(too_few_frames_in_flight, (f.number,), let_at_least_one_frame_be_in_flight) \
  X(too_many_frames_in_flight, (f.number,), let_at_most_1000000_frames_be_in_flight) \
  X(in_flight_twice, (f.number, f.more,), give_the_number_of_frames_once) \
  X(not_a_split_option, (listed<Map, f>, entry_found<Map, f>,), write_the_layers_first_and_then_options_of_this_split_each_once) \
  X(tile_grid_not_positive, (entry_found<Map, f>,), give_at_least_one_row_and_one_column) \
  X(tiles_fewer_than_ranks, (entry_found<Map, f>, f.more,), write_at_least_as_many_tiles_as_ranks) \
  X(share_not_positive, (entry_found<Map, f>,), give_each_device_a_positive_share) \
  X(shares_do_not_fit_ranks, (entry_found<Map, f>, f.more,), give_one_share_for_each_device_of_the_run) \
  X(exchange_every_not_positive, (entry_found<Map, f>,), give_a_positive_number_of_layers) \
  X(not_a_layer_of_the_network, (foreign_end<Net, listed<Map, f>>,), name_layers_of_the_network_passed_to_main) \
  X(range_backwards, (first_of<listed<Map, f>>, last_of<listed<Map, f>>,), swap_first_and_last) \
  X(empty_layer_list, (entry_found<Map, f>,), give_it_at_least_one_layer) \
  X(split_point_out_of_range, (f.number,), keep_points_between_0_and_the_number_of_layers) \
  X(split_points_unordered, (f.number,), sort_the_points_and_use_each_once) \
  X(split_points_do_not_fit_devices, (f.number, f.more,), give_one_point_fewer_than_devices) \
  X(layer_in_two_lists, (layer_found<Net, f>, f.ranks[0], f.ranks[1],), remove_it_from_one_of_the_layer_lists) \
  X(layer_without_device, (layer_found<Net, f>,), add_it_to_a_layers_list) \
  X(input_or_output_not_splittable, (layer_found<Net, f>,), run_it_as_a_whole_in_a_layers_list) \
  X(layer_not_splittable, (layer_found<Net, f>,), run_it_as_a_whole_in_a_layers_list) \
  X(too_few_rows, (layer_found<Net, f>, f.units, f.more,), make_fewer_parts_or_split_it_in_another_way_or_not_at_all) \
  X(too_few_columns, (layer_found<Net, f>, f.units, f.more,), make_fewer_parts_or_split_it_in_another_way_or_not_at_all) \
  X(too_few_channel_blocks, (layer_found<Net, f>, f.units, f.more,), make_fewer_parts_or_split_it_in_another_way_or_not_at_all) \
  X(first_free_after_replicas, (layer_found<Net, f>,), give_it_shares_or_put_a_layer_between) \
  /* found by schedule and by assembly */ \
  X(memory_limit_less_than_plan, (f.number, f.bytes,), raise_the_limit_or_move_layers_to_another_device) \
  X(layer_without_kernel, (layer_found<Net, f>,), run_it_on_a_unit_whose_backend_has_this_operator)
// clang-format on
