#pragma once

#include <cstdint>

namespace dice::placement {

/// The mistakes of docs/dsl.md#mistakes, in its order.
enum class mistake : unsigned char {
  none,
  not_a_network,
  damaged_header,
  no_mapping,  ///< best_mapping found none
  not_a_mapping,
  other_split,
  misplaced_entry,
  rank_twice,
  rank_missing,
  not_declared,
  twice_in_run,
  layers_on_several,
  split_on_one,
  not_a_unit,
  core_twice,
  core_negative,
  no_core,
  too_few_threads,
  too_many_threads,
  gpu_negative,
  no_backend,
  not_a_limit,
  precision,
  memory_not_positive,
  memory_too_large,
  no_host_name,
  two_hosts,
  too_few_frames,
  too_many_frames,
  in_flight_twice,
  not_an_option,
  tile_grid,
  few_tiles,
  share_not_positive,
  shares_count,
  exchange_every,
  foreign,
  backwards,
  empty_list,
  point_outside,
  points_unordered,
  points_count,
  two_devices,
  no_device,
  end_in_parts,  ///< a graph input or output
  not_in_parts,
  few_rows,
  few_columns,
  few_blocks,
  free_after_replicas,
  memory_less_than_plan,  ///< this is found by schedule, the next by assembly
  no_kernel,
};

/// The first mistake.
struct finding {
  mistake what = mistake::none;
  int position = 0;  ///< of the entry in the mapping
  int index = 0;     ///< in the entry: of the interval, limit, share, or of the layer or option
  int number = 0;    ///< rank, core, threads, GPU, frames, rows of a grid, tiles, share, shares, point, points, layer id
  int more = 0;      ///< points_count: devices; in_flight_twice: frames of the second; layers_on_several: the second rank;
                 ///< tile_grid: columns; few_…, shares_count: ranks (or rows or columns of the grid); two_devices,
                 ///< no_device: layers after the first
  std::int64_t bytes = 0;  ///< memory_less_than_plan: what the rank needs
  std::int64_t units = 0;  ///< few_rows, few_columns, few_blocks: into how many parts the layer can be cut
  int ranks[2] = {};       ///< two_devices: the first ranks of the first two runs that have the layer

  constexpr explicit operator bool() const { return what != mistake::none; }
  friend constexpr bool operator==(const finding&, const finding&) = default;
};

}  // namespace dice::placement
