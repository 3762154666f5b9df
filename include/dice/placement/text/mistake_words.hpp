#pragma once

#include "dice/placement/finding.hpp"

#include <string_view>

namespace dice::placement {

/// A mistake's name in error.hpp, and its remedy with blanks instead of underscores.
struct mistake_words {
  std::string_view name, remedy;
};

/// Empty for mistakes that texts cannot have.
constexpr mistake_words words_of(mistake what) {
  switch (what) {
    case mistake::not_a_mapping:
      return {"not_a_mapping", "write mapping of dev and layers"};
    case mistake::other_split:
      return {"split_of_another_network", "split the network passed to main"};
    case mistake::misplaced_entry:
      return {"misplaced_entry", "write devices followed by their work"};
    case mistake::rank_twice:
      return {"rank_used_twice", "give each device a rank of its own or name it again with ranks"};
    case mistake::rank_missing:
      return {"rank_missing", "number the ranks from 0 without gaps"};
    case mistake::not_declared:
      return {"rank_not_declared", "declare its device with dev"};
    case mistake::twice_in_run:
      return {"rank_twice_in_run", "name each rank once in a run"};
    case mistake::layers_on_several:
      return {"layers_on_several_devices", "write one device before layers or split the layers"};
    case mistake::split_on_one:
      return {"split_on_one_rank", "name several devices or write layers"};
    case mistake::not_a_unit:
      return {"not_a_unit", "write cpu or cores or threads or gpu"};
    case mistake::core_twice:
      return {"core_listed_twice", "list each core once"};
    case mistake::core_negative:
      return {"core_number_negative", "list cores by numbers from 0 on"};
    case mistake::no_core:
      return {"no_core_listed", "list cores by numbers from 0 on"};
    case mistake::too_few_threads:
      return {"too_few_threads", "ask for at least one thread"};
    case mistake::too_many_threads:
      return {"too_many_threads", "ask for at most 1024 threads"};
    case mistake::gpu_negative:
      return {"gpu_number_negative", "write cpu or cores or threads or gpu"};
    case mistake::no_backend:
      return {"unit_without_backend", "link dice::cudnn or use a cpu unit"};
    case mistake::not_a_limit:
      return {"not_a_limit", "write memory or precision or direct_convolutions or on a host"};
    case mistake::precision:
      return {"precision_not_possible", "give it once and only to gpus"};
    case mistake::memory_not_positive:
      return {"memory_limit_not_positive", "give a positive number of bytes"};
    case mistake::memory_too_large:
      return {"memory_limit_too_large", "give less than 8 EiB"};
    case mistake::no_host_name:
      return {"empty_host_name", "write the name of a host"};
    case mistake::two_hosts:
      return {"rank_on_two_hosts", "name one host"};
    case mistake::too_few_frames:
      return {"too_few_frames_in_flight", "let at least one frame be in flight"};
    case mistake::too_many_frames:
      return {"too_many_frames_in_flight", "let at most 1000000 frames be in flight"};
    case mistake::in_flight_twice:
      return {"in_flight_twice", "write in_flight once"};
    case mistake::not_an_option:
      return {"not_a_split_option", "write the layers first and then options of this split each once"};
    case mistake::tile_grid:
      return {"tile_grid_not_positive", "give at least one row and one column"};
    case mistake::few_tiles:
      return {"tiles_fewer_than_ranks", "write at least as many tiles as ranks"};
    case mistake::share_not_positive:
      return {"share_not_positive", "give each device a positive share"};
    case mistake::shares_count:
      return {"shares_do_not_fit_ranks", "give one share for each device of the run"};
    case mistake::exchange_every:
      return {"exchange_every_not_positive", "give a positive number of layers"};
    case mistake::foreign:
      return {"not_a_layer_of_the_network", "name layers of the network passed to main"};
    case mistake::backwards:
      return {"range_backwards", "swap first and last"};
    case mistake::empty_list:
      return {"empty_layer_list", "give it at least one layer"};
    case mistake::point_outside:
      return {"split_point_out_of_range", "keep points between 0 and the number of layers"};
    case mistake::points_unordered:
      return {"split_points_unordered", "sort the points and use each once"};
    case mistake::points_count:
      return {"split_points_do_not_fit_devices", "give one point less than devices"};
    case mistake::two_devices:
      return {"layer_in_two_lists", "remove it from one of the layer lists"};
    case mistake::no_device:
      return {"layer_without_device", "add it to a layers list"};
    case mistake::end_in_parts:
      return {"input_or_output_not_splittable", "run it as a whole in a layers list"};
    case mistake::free_after_replicas:
      return {"first_free_after_replicas", "give it shares or put a layer between"};
    case mistake::not_in_parts:
      return {"layer_not_splittable", "run it as a whole in a layers list"};
    case mistake::few_rows:
      return {"too_few_rows", "make fewer parts or split it in another way or not at all"};
    case mistake::few_columns:
      return {"too_few_columns", "make fewer parts or split it in another way or not at all"};
    case mistake::few_blocks:
      return {"too_few_channel_blocks", "make fewer parts or split it in another way or not at all"};
    case mistake::memory_less_than_plan:
      return {"memory_limit_less_than_plan", "raise the limit or move layers to another device"};
    case mistake::no_kernel:
      return {"layer_without_kernel", "run it on a unit whose backend has this operator"};
    case mistake::none:
    case mistake::not_a_network:
    case mistake::damaged_header:
    case mistake::no_mapping:
      break;
  }
  return {};
}

}  // namespace dice::placement
