// From types back to values: what the runtime gets from a network and a mapping.
#pragma once

#include "dice/assembly/remap.hpp"
#include "dice/assembly/team.hpp"
#include "dice/assembly/verdict.hpp"
#include "dice/meta/library_id.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/tasks.hpp"
#include "dice/schedule/static_plan.hpp"
#include "dice/version.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace dice::assembly {

namespace detail {

/// Values of a program, by fusion group and by rank.
template <std::size_t Groups, std::size_t Ranks> struct tables {
  std::array<kernels::entry, Groups> kernels{};
  std::array<meta::view<graph::parameter>, Groups> parameters{};
  std::array<platform::unit, Ranks> units{};
  std::array<std::span<const int>, Ranks> cores{};
  std::array<std::string_view, Ranks> hosts{};
};

/// How what the groups read lies in memory, in the order of the plan's operands.
template <class Net, class Map>
inline constexpr auto stored =
    runtime::storage_of<schedule::plan_of<Net, Map>.operands.size()>(schedule::plan_of<Net, Map>.operands);

/// Other ranks' groups have no functions, so that the linker leaves their kernels out.
template <class Net, class Map, class Here> consteval auto tabulate() {
  constexpr const auto& plan = schedule::plan_of<Net, Map>;
  constexpr const auto& devices = placement::of<Net, Map>.devices;
  constexpr const auto& layers = layer_tables_for<Net, Map>;
  constexpr const auto& parts = schedule::parts_of<Net, Map>;
  tables<plan.groups.size(), plan.ranks.size()> out;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const int anchor = plan.groups[g].anchor;
    const int l = anchor;
    out.kernels[g] = layers.kernel(algorithm::backend_of(devices[plan.groups[g].rank].unit), parts, anchor,
                                   schedule::detail::algorithm_table<Net, Map>[l]);
    if (const auto& here = Here::ranks; !here.empty() && !here[plan.groups[g].rank]) out.kernels[g].by = {};
    out.parameters[g] = layers.parameters_of(parts, anchor);
  }
  runtime::add_plan(out.kernels, stored<Net, Map>, plan, parts.net);
  for (std::size_t r = 0; r < devices.size(); ++r) {
    out.units[r] = devices[r].unit;
    out.cores[r] = devices[r].cores;
    out.hosts[r] = devices[r].host;
  }
  return out;
}

template <class Net, class Map, class Here> inline constexpr auto table = tabulate<Net, Map, Here>();

}  // namespace detail

/// A program for all ranks of its mapping, as program_of takes it. For other programs, `ranks` says by rank whether the
/// program can run it, and `board` names the boards that it is for.
struct all_ranks {
  static constexpr std::string_view board{};
  static constexpr std::span<const bool> ranks{};
};

/// Where dice_add_network makes weights files; empty outside its builds.
#ifdef DICE_NETWORKS_DIR
inline constexpr std::string_view networks_folder = DICE_NETWORKS_DIR;
#else
inline constexpr std::string_view networks_folder{};
#endif

/// The program of network Net under the valid mapping Map, with the ranks that Here says.
template <class Net, class Map, class Here = all_ranks>
inline constexpr runtime::program program_of{
    .version = version,
    .network = Net::name,
    .layers = schedule::parts_of<Net, Map>.net,
    .parts = schedule::parts_of<Net, Map>.parts,
    .whole_layers = graph::view_of<Net>,
    .mapping = placement::written<Net, Map>,
    .plan = schedule::plan_of<Net, Map>,
    .kernels = detail::table<Net, Map, Here>.kernels,
    .parameters = detail::table<Net, Map, Here>.parameters,
    .weights = Net::weights,
    .weights_folder = networks_folder,
    .units = detail::table<Net, Map, Here>.units,
    .cores = detail::table<Net, Map, Here>.cores,
    .hosts = detail::table<Net, Map, Here>.hosts,
    .threads = threads,
    .open = layer_tables_for<Net, Map>.open,
    .convert = layer_tables_for<Net, Map>.convert,
#ifdef DICE_PACK_AT_START
    .pack_at_start = true,
#endif
#ifndef DICE_FIXED_MAPPING
    .tables = &layer_tables_for<Net, Map>,
    .remap = &remap,
#endif
    .board = Here::board,
    .here = Here::ranks,
    .library = library_id,
};
/// The same, after the phases of schedule::phases_of if the caller names them first.
template <class Net, class Map, class Here = all_ranks> const runtime::program& program() {
  return program_of<Net, Map, Here>;
}

}  // namespace dice::assembly
