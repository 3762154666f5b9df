// A network on a cluster, from types to values.
#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/algorithm/table.hpp"
#include "dice/cost/profile.hpp"
#include "dice/cost/setting.hpp"
#include "dice/meta/type_list.hpp"
#include "dice/platform/cluster.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace dice::cost {

namespace detail {

/// Network Net on a valid cluster, as values.
template <class Net, class Cluster> struct tables {
  using values = platform::cluster_values<Cluster>;
  template <class... P> static constexpr auto seconds_of(meta::type_list<P...>) {
    return std::array<std::span<const double>, sizeof...(P)>{layer_seconds<Net, P>...};
  }
  template <class... P> static constexpr auto algorithms_of(meta::type_list<P...>) {
    return std::array<std::span<const algorithm::choice>, sizeof...(P)>{
        algorithm::choices_on<Net, platform::processor_traits<P>::value.unit>...};
  }
  template <class... P> static constexpr auto usable_of(meta::type_list<P...>) {
    return std::array<bool, sizeof...(P)>{
        (platform::usable_processors & platform::bit(platform::processor_traits<P>::value.unit.processor())) != 0 ...};
  }
  using processors = typename values::processors;
  static constexpr auto seconds = seconds_of(processors{});
  static constexpr auto algorithms = algorithms_of(processors{});
  static constexpr auto usable = usable_of(processors{});
};

}  // namespace detail

/// Network Net on cluster Cluster, which must be valid (cost::verdict).
template <class Net, class Cluster>
inline constexpr setting setting_of{graph::view_of<Net>, platform::cluster_values<Cluster>::view,
                                    detail::tables<Net, Cluster>::seconds, detail::tables<Net, Cluster>::algorithms,
                                    detail::tables<Net, Cluster>::usable};

}  // namespace dice::cost
