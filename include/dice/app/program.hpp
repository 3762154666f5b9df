// From types back to values: what the runtime gets of a network and a mapping.
#pragma once

#include "dice/app/backends.hpp"
#include "dice/app/verdict.hpp"
#include "dice/kernels/cudnn/open.hpp"
#include "dice/library_id.hpp"
#include "dice/runtime/program.hpp"
#include "dice/runtime/tasks.hpp"
#include "dice/schedule/static_plan.hpp"
#include "dice/version.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace dice::app {

namespace detail {

/// Values of a program, by fusion group and by rank.
template <std::size_t Groups, std::size_t Ranks> struct tables {
  std::array<kernels::entry, Groups> kernels{};
  std::array<std::span<const graph::parameter>, Groups> parameters{};
  std::array<platform::unit, Ranks> units{};
  std::array<std::span<const int>, Ranks> cores{};
  std::array<std::string_view, Ranks> hosts{};
};

/// Layouts of what the groups read, in the order of the plan's operands.
template <class Net, class Map>
inline constexpr auto layouts =
    runtime::layouts_of<schedule::plan_of<Net, Map>.operands.size()>(schedule::plan_of<Net, Map>.operands);

/// Layer Layer alone, in backend Backend.
template <class Net, class Map, cost::backend Backend, class Layer> constexpr kernels::entry entry_of() {
  return kernels::entry_for<kernels::tag<Backend>>(Layer::op, graph::view_of<Net>.operands(Layer::id), Layer::result,
                                                   schedule::detail::algorithm_table<Net, Map>[Layer::id]);
}

template <class Net, class Map> consteval auto tabulate() {
  constexpr const auto& plan = schedule::plan_of<Net, Map>;
  tables<plan.groups.size(), plan.ranks.size()> out;
  [&]<std::size_t... G>(std::index_sequence<G...>) {
    out.kernels = {
        entry_of<Net, Map, backend_of_group<Net, Map>(G), typename Net::template layer<plan.groups[G].anchor>>()...};
    out.parameters = {std::span<const graph::parameter>(Net::template layer<plan.groups[G].anchor>::parameters)...};
  }
  (std::make_index_sequence<plan.groups.size()>{});
  runtime::add_plan(out.kernels, layouts<Net, Map>, plan, graph::view_of<Net>);
  boost::hana::for_each(placement::entries<Map>::list, [&](auto type) {
    using E = typename decltype(type)::type;
    if constexpr (platform::is_dev<E>) {
      using unit = platform::unit_traits<typename platform::dev_traits<E>::unit_type>;
      out.units[E::rank] = platform::dev_traits<E>::value.on;
      out.cores[E::rank] = unit::core_list;
      out.hosts[E::rank] = platform::dev_traits<E>::value.host;
    }
  });
  return out;
}

template <class Net, class Map> inline constexpr auto table = tabulate<Net, Map>();

}  // namespace detail

namespace detail {

/// The function that opens the GPU of a rank; null without GPU ranks, so that such a program refers to nothing of CUDA's.
template <class Net, class Map> constexpr auto opener() -> decltype(runtime::program::open) {
  constexpr auto is_gpu = [](const platform::device& d) { return d.on.on() == platform::processor::gpu; };
  constexpr auto& devices = placement::of<Net, Map>.devices;
  if constexpr (std::none_of(devices.begin(), devices.end(), is_gpu)) return nullptr;
#ifdef DICE_WITH_CUDNN
  else return &kernels::gpu::open;
#else
  else return &open_no_gpu;
#endif
}

}  // namespace detail

/// Where dice_add_network makes weights files; empty outside its builds.
#ifdef DICE_NETWORKS_DIR
inline constexpr std::string_view networks_folder = DICE_NETWORKS_DIR;
#else
inline constexpr std::string_view networks_folder{};
#endif

/// The program of network Net under the right mapping Map.
template <class Net, class Map>
inline constexpr runtime::program program_of{
    .version = version,
    .network = Net::name,
    .layers = graph::view_of<Net>,
    .plan = schedule::plan_of<Net, Map>,
    .kernels = detail::table<Net, Map>.kernels,
    .parameters = detail::table<Net, Map>.parameters,
    .weights = Net::weights,
    .weights_folder = networks_folder,
    .units = detail::table<Net, Map>.units,
    .cores = detail::table<Net, Map>.cores,
    .hosts = detail::table<Net, Map>.hosts,
    .threads = threads,
    .open = detail::opener<Net, Map>(),
#ifdef DICE_PACK_AT_START
    .pack_at_start = true,
#endif
    .library = library_id,
};

}  // namespace dice::app

#ifdef DICE_HEADER_ONLY
#include "dice/kernels/kernels.hpp"
#endif
