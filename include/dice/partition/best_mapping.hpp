// best_mapping: the search at compile time, and its answer as a mapping.
#pragma once

#include "dice/cost/check.hpp"
#include "dice/cost/predicted.hpp"
#include "dice/cost/setting_of.hpp"
#include "dice/meta/type_list.hpp"
#include "dice/partition/error.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/fit.hpp"
#include "dice/partition/mixed_choice.hpp"
#include "dice/partition/objectives.hpp"
#include "dice/placement/dsl.hpp"
#include "dice/placement/error.hpp"
#include "dice/placement/types.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace dice::partition {

namespace detail {

/// The constraints W for a mapping on Cluster, which must be valid.
template <class Cluster, class... W>
inline constexpr auto reading_of = read<W...>(platform::cluster_values<Cluster>::view.hosts);

/// The error of constraint number At.
template <class Cluster, int At, class... W> consteval auto constraint_verdict() {
  constexpr const auto& all = reading_of<Cluster, W...>;
  constexpr taken mine = all.constraints[At];
  constexpr int before = all.find(mine.what, At);
  using types = cost::detail::at_in<meta::type_list<W...>>;
  using type = typename types::template type<At>;
  if constexpr (mine.what == constraint::none)
    return cost::detail::failing<error::not_a_constraint<type, remedy::write_one_objective_and_limits>>{};
  else if constexpr (before >= 0)
    return cost::detail::failing<error::constraint_twice<typename types::template type<(before < 0 ? 0 : before)>, type,
                                                         remedy::give_each_constraint_once>>{};
  else if constexpr (mine.what == constraint::input || mine.what == constraint::output)
    return cost::detail::failing<error::constraint_for_unknown_host<type, remedy::name_a_host_of_the_cluster>>{};
  else if constexpr (mine.what == constraint::kinds)
    return cost::detail::failing<error::not_kinds_of_splits<type, remedy::write_rows_columns_grid_channels_or_replicas>>{};
  else if constexpr (mine.what == constraint::layers)
    return cost::detail::failing<error::no_layer_named<type, remedy::name_the_layers_that_must_not_be_split>>{};
  else if constexpr (mine.what == constraint::devices)
    return cost::detail::failing<error::percentage_out_of_range<type, remedy::give_a_percentage_from_0_to_100>>{};
  else if constexpr (mine.what == constraint::memory && all.of.memory > 0)
    return cost::detail::failing<error::limit_too_large<type, remedy::give_less_than_8_EiB>>{};
  else return cost::detail::failing<error::limit_not_positive<meta::type_list<W...>, remedy::give_limits_above_0>>{};
}

/// Index of the first no_split_of<…> with a layer that is not in Net, or whose range ends before it begins; or -1.
template <class Net, class... W> consteval int unknown_layer() {
  int at = 0, found = -1;
  const auto look = [&]<class... L>(no_split_of<L...>*) {
    for (const auto& list : {placement::detail::interval_of<Net, L>...})
      if (list.first < 0 || list.last < list.first) found = at;
  };
  [[maybe_unused]] const auto take = [&]<class T>(T* request) {
    if constexpr (names_layers<T>)
      if (found < 0) look(request);
    ++at;
  };
  (take(static_cast<W*>(nullptr)), ...);
  return found;
}

/// Index of the first usable processor without watts, or -1.
template <class Net, class Cluster> consteval int without_watts() {
  constexpr const auto& s = cost::setting_of<Net, Cluster>;
  for (std::size_t k = 0; k < s.usable.size(); ++k)
    if (s.usable[k] && !s.cluster.processors[k].has_watts) return static_cast<int>(k);
  return -1;
}

constexpr std::int64_t largest(std::span<const std::int64_t> of) {
  std::int64_t out = 0;
  for (const auto bytes : of) out = std::max(out, bytes);
  return out;
}

/// What is predicted for the plan of the best mapping of whole layers that was found.
template <class Net, class Cluster, class Found> struct found_stages {
  static constexpr prediction expected = planned_figures<Net, Cluster, Found>;
};
template <class Net, class Cluster, class Found> constexpr auto stages_or_void_of() {
  if constexpr (Found::found) return std::type_identity<found_stages<Net, Cluster, Found>>{};
  else return std::type_identity<void>{};
}
template <class Net, class Cluster, class Found>
using stages_or_void = typename decltype(stages_or_void_of<Net, Cluster, Found>())::type;

/// The figures of the best mapping for a request, of whole layers or a mix; throughput 0: there is none.
template <class Net, class Cluster, request Request, class... W> consteval prediction best_figures() {
  using stages = stages_or_void<Net, Cluster, best_fit<Net, Cluster, Request>>;
  using mix = typename with_mixes_of<Net, Cluster, Request, stages, W...>::type;
  if constexpr (!std::is_void_v<mix>) return predicted<Net, mix, Cluster>;
  else if constexpr (!std::is_void_v<stages>) return stages::expected;
  else return {};
}
constexpr request aimed_at(request r, objective best, double max_period, std::int64_t memory) {
  r.aim.best = best;
  r.aim.max_period = max_period;
  r.aim.max_latency = infinity;
  r.memory = memory;
  return r;
}

/// The nearest limit that a mapping of whole layers or a mix can meet, given what holds for whole layers: the first one that
/// cannot be kept together with those before it, in the order memory, frames/s, latency.
template <class Net, class Cluster, request Request, nearest Stages, class... W> consteval nearest nearest_limit() {
  if constexpr (Request.whole ||
                (Stages.what != obstacle::fps && Stages.what != obstacle::latency && Stages.what != obstacle::memory))
    return Stages;
  else {
    constexpr auto fastest =
        best_figures<Net, Cluster, aimed_at(Request, objective::throughput, infinity, Request.memory), W...>();
    if constexpr (fastest.throughput <= 0) {
      constexpr auto least =
          best_figures<Net, Cluster, aimed_at(Request, objective::peak_memory, infinity, no_limit), W...>();
      if constexpr (least.throughput > 0) return {obstacle::memory, static_cast<double>(rounded_bytes(least.memory))};
      else return Stages;
    } else if constexpr (fastest.period > Request.aim.max_period) {
      return {obstacle::fps, fastest.throughput};
    } else {
      constexpr auto quickest =
          best_figures<Net, Cluster, aimed_at(Request, objective::latency, Request.aim.max_period, Request.memory), W...>();
      if constexpr (quickest.latency > Request.aim.max_latency) return {obstacle::latency, quickest.latency};
      else return Stages;
    }
  }
}

template <class Net, class Cluster, request Request, class... W> consteval auto none_verdict() {
  constexpr nearest stages =
      why_none(cost::setting_of<Net, Cluster>, problem_of(cost::setting_of<Net, Cluster>, Request.aim), Request);
  constexpr nearest n = nearest_limit<Net, Cluster, Request, stages, W...>();
  if constexpr (n.what == obstacle::fps)
    return cost::detail::failing<error::no_mapping_within<at_least_fps<Request.fps>, at_least_fps<rounded(n.value, false)>,
                                                          remedy::relax_this_limit_or_add_devices>>{};
  else if constexpr (n.what == obstacle::latency)
    return cost::detail::failing<error::no_mapping_within<at_most_latency<ms<Request.aim.max_latency * 1e3>>,
                                                          at_most_latency<ms<rounded(n.value * 1e3, true)>>,
                                                          remedy::relax_this_limit_or_add_devices>>{};
  else if constexpr (n.what == obstacle::constraints)
    return cost::detail::failing<
        error::conflicting_constraints<meta::type_list<W...>, remedy::leave_out_one_of_these_constraints>>{};
  else if constexpr (n.what == obstacle::input_host || n.what == obstacle::output_host) {
    constexpr int at =
        reading_of<Cluster, W...>.find(n.what == obstacle::input_host ? constraint::input : constraint::output);
    using named = typename cost::detail::at_in<meta::type_list<W...>>::template type<at>;
    if constexpr (n.value > 0)
      return cost::detail::failing<error::host_too_small<named, memory_limit<static_cast<std::int64_t>(n.value)>,
                                                         remedy::give_this_host_more_memory_or_name_another>>{};
    else
      return cost::detail::failing<
          error::no_usable_processor<named, remedy::build_with_the_backend_of_a_processor_of_the_cluster>>{};
  } else
    return cost::detail::failing<error::no_mapping_within<memory_limit<largest(rank_limits<Net, Cluster, Request.memory>)>,
                                                          memory_limit<static_cast<std::int64_t>(n.value)>,
                                                          remedy::relax_this_limit_or_add_devices>>{};
}

/// The mapping of whole layers that was found, or the error that says why there is none.
template <class Net, class Cluster, request Request, class Found, class... W> consteval auto stages_or_error() {
  if constexpr (Found::value.too_many_kinds)
    return cost::detail::failing<error::too_many_kinds_of_hosts<Cluster, remedy::give_the_order_with_in_order>>{};
  else if constexpr (!Found::found) return none_verdict<Net, Cluster, Request, W...>();
  else return cost::detail::failing<typename written<Net, Cluster, Found>::type>{};
}

/// A null pointer to a function whose return type is the mapping, or the error that says why there is none.
template <class Net, class Cluster, class... W> consteval auto best() {
  if constexpr (!graph::network_type<Net>)
    return cost::detail::failing<error::not_a_network<Net, remedy::pass_the_network_struct_of_a_header_made_by_onnx2hpp>>{};
  else if constexpr (constexpr auto v = cost::verdict<Net, Cluster>(); !std::is_same_v<decltype(v()), int>)
    return cost::verdict<Net, Cluster>();
  else if constexpr (constexpr int at = reading_of<Cluster, W...>.mistake(); at >= 0)
    return constraint_verdict<Cluster, at, W...>();
  else if constexpr (constexpr int unknown = unknown_layer<Net, W...>(); unknown >= 0)
    return cost::detail::failing<
        error::no_layer_named<typename cost::detail::at_in<meta::type_list<W...>>::template type<unknown>,
                              remedy::name_layers_of_this_network_in_its_order>>{};
  else if constexpr (constexpr int k = without_watts<Net, Cluster>();
                     reading_of<Cluster, W...>.of.aim.best == objective::energy && k >= 0)
    return cost::detail::failing<error::watts_missing<typename cost::detail::at_in<typename cost::detail::tables<
                                                          Net, Cluster>::processors>::template type<(k < 0 ? 0 : k)>,
                                                      remedy::give_each_processor_watts>>{};
  else if constexpr (constexpr const auto& usable = cost::detail::tables<Net, Cluster>::usable;
                     std::find(usable.begin(), usable.end(), true) == usable.end())
    return cost::detail::failing<
        error::no_usable_processor<Cluster, remedy::build_with_the_backend_of_a_processor_of_the_cluster>>{};
  else {
    constexpr request r = reading_of<Cluster, W...>.of;
    using found = answer<Net, Cluster, r>;
    if constexpr (!r.whole && r.percent < 0) {
      using mix = typename with_mixes_of<Net, Cluster, r, stages_or_void<Net, Cluster, found>, W...>::type;
      if constexpr (!std::is_void_v<mix>) return cost::detail::failing<mix>{};
      else return stages_or_error<Net, Cluster, r, found, W...>();
    } else {
      return stages_or_error<Net, Cluster, r, found, W...>();
    }
  }
}

template <class T> inline constexpr bool is_mapping = false;
template <class... E> inline constexpr bool is_mapping<mapping<E...>> = true;
template <class T> using mapping_or_error = std::conditional_t<is_mapping<T>, T, error::no_mapping<T>>;

}  // namespace detail
}  // namespace dice::partition

namespace dice {

/// The best mapping of network Net on cluster Cluster, found at compile time: a `mapping` as if written by hand. `Request`
/// is an objective (throughput by default; latency, energy, peak_memory), limits (memory_limit<bytes>, at_least_fps<N>,
/// at_most_latency<ms<N>>), and constraints (in_order, repeats, input_at<"host">, output_at<"host">,
/// fewest_devices<percent>). If there is no such mapping, passing it to dice::main is a compile error that says why. Exact,
/// where AutoDiCE (Guo et al. 2023, Section IV-B) searches by NSGA-II: that finds many compromises between throughput,
/// memory and energy at once, this the best for one of them, within limits for the others. See docs/partitioning.md.
template <class Net, class Cluster, class... Request>
using best_mapping = partition::detail::mapping_or_error<decltype(partition::detail::best<Net, Cluster, Request...>()())>;

}  // namespace dice
