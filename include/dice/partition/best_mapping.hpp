// best_mapping: the search at compile time, and its answer as a mapping.
#pragma once

#include "dice/cost/backend.hpp"
#include "dice/cost/profile.hpp"
#include "dice/cost/table.hpp"
#include "dice/mapping/dsl.hpp"
#include "dice/mapping/error.hpp"
#include "dice/meta/type_list.hpp"
#include "dice/partition/check.hpp"
#include "dice/partition/error.hpp"
#include "dice/partition/feasible.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/objectives.hpp"
#include "dice/partition/search.hpp"
#include "dice/partition/setting.hpp"
#include "dice/schedule/static_plan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace dice::partition {

namespace detail {

/// Network Net on a right cluster, as values.
template <class Net, class Cluster> struct tables {
  using values = platform::cluster_values<Cluster>;
  template <class... P> static constexpr auto seconds_of(meta::type_list<P...>) {
    return std::array<std::span<const double>, sizeof...(P)>{cost::layer_seconds<Net, P>...};
  }
  template <class... P> static constexpr auto algorithms_of(meta::type_list<P...>) {
    return std::array<std::span<const cost::algorithm>, sizeof...(P)>{
        cost::algorithms_of<Net, cost::backend_of(platform::processor_traits<P>::value.on)>...};
  }
  template <class... P> static constexpr auto usable_of(meta::type_list<P...>) {
    return std::array<bool, sizeof...(P)>{platform::has_cudnn ||
                                          platform::processor_traits<P>::value.on.on() == platform::processor::cpu...};
  }
  using processors = typename values::processors;
  static constexpr auto seconds = seconds_of(processors{});
  static constexpr auto algorithms = algorithms_of(processors{});
  static constexpr auto usable = usable_of(processors{});
};

}  // namespace detail

/// Network Net on cluster Cluster, which is right (partition::verdict).
template <class Net, class Cluster>
inline constexpr setting setting_of{graph::view_of<Net>, platform::cluster_values<Cluster>::view,
                                    detail::tables<Net, Cluster>::seconds, detail::tables<Net, Cluster>::algorithms,
                                    detail::tables<Net, Cluster>::usable};

namespace detail {

/// Most stages that best_mapping may choose.
inline constexpr std::size_t most_stages = 64;

/// A solution for a network of so many layers, of fixed size.
template <int Layers> struct choice {
  std::array<stage, most_stages> stages{};
  std::array<std::int64_t, most_stages> held{};               ///< bytes that the search counts for each stage's device
  std::array<int, most_stages> processor{};                   ///< by rank
  std::array<int, static_cast<std::size_t>(Layers)> owner{};  ///< by layer
  int count = 0, ranks = 0;                                   ///< 0: none
  bool too_many_kinds = false;
};

template <class Net, class Cluster> constexpr auto choose(const goal& g, std::span<const std::int64_t> most) {
  problem p = problem_of(setting_of<Net, Cluster>);
  set_limits(p, most);
  const outcome found = search(p, g);
  choice<Net::size> out;
  out.too_many_kinds = found.too_many_kinds;
  if (found.best.stages.size() > static_cast<int>(most_stages)) return out;
  for (const auto& s : found.best.stages) {
    const auto k = static_cast<std::size_t>(out.count++);
    out.stages[k] = s, out.stages[k].device = p.devices[s.device].processor;
    out.held[k] = memory_of(p, found.best.stages, s.device);
  }
  if (out.count == 0) return out;
  const assignment all = assign(p, found.best.stages);
  for (const int device : all.devices) out.processor[static_cast<std::size_t>(out.ranks++)] = p.devices[device].processor;
  std::copy(all.owner.begin(), all.owner.end(), out.owner.begin());
  return out;
}

/// Layers first … last, both included, on a rank.
struct run {
  int rank = 0, first = 0, last = 0;
};
/// What a chosen mapping is made of: the processor of each rank, and its layers in rows.
template <std::size_t Runs> struct parts {
  int ranks = 0, runs = 0;
  std::array<int, most_stages> processor{};
  std::array<run, Runs> rows{};
};

template <int Layers> constexpr auto parts_of(const choice<Layers>& c) {
  parts<static_cast<std::size_t>(Layers)> out;
  out.ranks = c.ranks, out.processor = c.processor;
  for (int rank = 0; rank < out.ranks; ++rank)
    for (int l = 0; l < Layers; ++l) {
      if (c.owner[static_cast<std::size_t>(l)] != rank) continue;
      auto* before = out.runs ? &out.rows[static_cast<std::size_t>(out.runs - 1)] : nullptr;
      if (before && before->rank == rank && before->last == l - 1) before->last = l;
      else out.rows[static_cast<std::size_t>(out.runs++)] = {rank, l, l};
    }
  return out;
}

template <class Net, int First, int Last> struct row {
  using type = range<typename Net::template layer<First>, typename Net::template layer<Last>>;
};
template <class Net, int Id> struct row<Net, Id, Id> { using type = typename Net::template layer<Id>; };

template <class Host> struct tie;
template <meta::fixed_string Name, class Board> struct tie<host<Name, Board>> { using type = on<Name>; };

template <class List, class... More> struct joined_mapping;
template <class... A> struct joined_mapping<meta::type_list<A...>> { using type = mapping<A...>; };
template <class... A, class D, class L, class... Rest>
struct joined_mapping<meta::type_list<A...>, meta::type_list<D, L>, Rest...>
    : joined_mapping<meta::type_list<A..., D, L>, Rest...> {};

/// The mapping of the choice that Choice::value is.
template <class Net, class Cluster, class Choice> struct written {
  static constexpr auto all = parts_of(Choice::value);
  using values = platform::cluster_values<Cluster>;

  template <int Rank>
  static constexpr int first_row = [] {
    int at = 0;
    while (all.rows[static_cast<std::size_t>(at)].rank != Rank) ++at;
    return at;
  }();
  template <int Rank>
  static constexpr int rows = [] {
    int n = 0;
    for (int k = 0; k < all.runs; ++k) n += all.rows[static_cast<std::size_t>(k)].rank == Rank;
    return n;
  }();
  template <int Rank, int... K>
  static auto layers_of(std::integer_sequence<int, K...>)
      -> layers<typename row<Net, all.rows[static_cast<std::size_t>(first_row<Rank> + K)].first,
                             all.rows[static_cast<std::size_t>(first_row<Rank> + K)].last>::type...>;
  template <int Rank> struct entry {
    static constexpr int processor = all.processor[static_cast<std::size_t>(Rank)];
    using unit = typename platform::processor_traits<
        typename at_in<typename values::processors>::template type<processor>>::unit_type;
    using host = typename at_in<typename platform::cluster_traits<Cluster>::hosts>::template type<
        values::view.host_of[static_cast<std::size_t>(processor)]>;
    using type = meta::type_list<dev<Rank, unit, typename tie<host>::type>,
                                 decltype(layers_of<Rank>(std::make_integer_sequence<int, rows<Rank>>{}))>;
  };
  template <int... Rank>
  static auto join(std::integer_sequence<int, Rank...>) -> joined_mapping<meta::type_list<>, typename entry<Rank>::type...>;
  using type = typename decltype(join(std::make_integer_sequence<int, all.ranks>{}))::type;
};

/// Bytes that each processor's rank may have, by the wish or by its `ram` alone.
template <class Net, class Cluster, std::int64_t Most = no_limit>
inline constexpr auto rank_limits = [] {
  constexpr const auto& view = platform::cluster_values<Cluster>::view;
  std::array<std::int64_t, view.processors.size()> out{};
  const auto all = limits_of(view, Most);
  std::copy(all.begin(), all.end(), out.begin());
  return out;
}();

/// The search with limits on what it counts.
template <class Net, class Cluster, wish Wish, auto Limits> struct searched {
  static constexpr auto value = choose<Net, Cluster>(Wish.aim, Limits);
  static constexpr bool found = value.count > 0;
};

/// Limits on what the search counts under which the plan of its mapping, Found, may keep to those of the wish: Limits if it
/// does so already.
template <class Net, class Cluster, wish Wish, auto Limits, class Found> consteval auto tighter() {
  using written_as = written<Net, Cluster, Found>;
  auto out = Limits;
  meta::array<rank_memory> ranks;
  for (const auto& r : schedule::plan_of<Net, typename written_as::type>.ranks) {
    const int processor = written_as::all.processor[static_cast<std::size_t>(r.rank)];
    std::size_t k = 0;
    while (Found::value.stages[k].device != processor) ++k;
    ranks.push_back({processor, Found::value.held[k], r.peak_bytes});
  }
  tighten(out, rank_limits<Net, Cluster, Wish.memory>, platform::cluster_values<Cluster>::view, ranks);
  return out;
}

/// No answer.
struct none {
  static constexpr choice<1> value{};
  static constexpr bool found = false;
};

/// Bytes that the search has to be allowed besides Limits, as missing_memory.
template <class Net, class Cluster, wish Wish, auto Limits>
inline constexpr std::int64_t missing = [] {
  problem p = problem_of(setting_of<Net, Cluster>);
  set_limits(p, Limits);
  return missing_memory(p, Wish.aim);
}();

/// A mapping with least memory, as the search counts, if its plan keeps to the limits of the wish.
template <class Net, class Cluster, wish Wish> constexpr auto fit_smallest() {
  constexpr wish smallest = [] {
    wish out = Wish;
    out.aim.best = objective::peak_memory;
    return out;
  }();
  constexpr auto ram = rank_limits<Net, Cluster>;
  using here = searched<Net, Cluster, smallest, ram>;
  if constexpr (!here::found) return here{};
  else if constexpr (tighter<Net, Cluster, Wish, ram, here>() == ram) return here{};
  else return none{};
}

/// Searches until the plan of the mapping keeps to the limits of the wish, each time with limits that are as much tighter as
/// the plan exceeded them; the first time with looser ones if the search, which counts a little more than plans take, finds
/// nothing. find_within does the same at run time.
template <class Net, class Cluster, wish Wish, auto Limits, int Round = 0, class Here = searched<Net, Cluster, Wish, Limits>>
constexpr auto fit() {
  if constexpr (Round == most_rounds) return fit_smallest<Net, Cluster, Wish>();
  else if constexpr (Here::found) {
    constexpr auto less = tighter<Net, Cluster, Wish, Limits, Here>();
    if constexpr (less == Limits) return Here{};
    else return fit<Net, Cluster, Wish, less, Round + 1>();
  } else if constexpr (Here::value.too_many_kinds) {
    return Here{};
  } else if constexpr (Round > 0) {
    return fit_smallest<Net, Cluster, Wish>();
  } else if constexpr (missing<Net, Cluster, Wish, Limits> == 0) {
    return Here{};
  } else {
    constexpr auto more = [] {
      const std::int64_t least = missing<Net, Cluster, Wish, Limits>;
      auto out = Limits;
      for (auto& limit : out) limit = std::max(limit, least);
      return out;
    }();
    return fit<Net, Cluster, Wish, more, 1>();
  }
}

template <class Net, class Cluster, wish Wish>
using answer = decltype(fit<Net, Cluster, Wish, rank_limits<Net, Cluster, Wish.memory>>());

/// The first type that is no objective or limit.
template <class... T> struct first_wrong { using type = void; };
template <class T, class... Rest> struct first_wrong<T, Rest...> : first_wrong<Rest...> {};
template <class T, class... Rest>
requires(wish_of<T>().wrong) struct first_wrong<T, Rest...> {
  using type = T;
};

/// Number of the first usable processor without watts, or -1.
template <class Net, class Cluster> consteval int without_watts() {
  constexpr const auto& s = setting_of<Net, Cluster>;
  for (std::size_t k = 0; k < s.usable.size(); ++k)
    if (s.usable[k] && !s.cluster.processors[k].has_watts) return static_cast<int>(k);
  return -1;
}

constexpr std::int64_t largest(std::span<const std::int64_t> of) {
  std::int64_t out = 0;
  for (const auto bytes : of) out = std::max(out, bytes);
  return out;
}

template <class Net, class Cluster, wish Wish> consteval auto none_verdict() {
  constexpr nearest n = why_none(setting_of<Net, Cluster>, problem_of(setting_of<Net, Cluster>), Wish);
  if constexpr (n.what == obstacle::fps)
    return failing<error::no_mapping_within<at_least_fps<Wish.fps>, at_least_fps<told(n.value, false)>,
                                            remedy::relax_this_limit_or_add_devices>>{};
  else if constexpr (n.what == obstacle::latency)
    return failing<
        error::no_mapping_within<at_most_latency<ms<Wish.aim.most_latency * 1e3>>,
                                 at_most_latency<ms<told(n.value * 1e3, true)>>, remedy::relax_this_limit_or_add_devices>>{};
  else
    return failing<error::no_mapping_within<memory_limit<largest(rank_limits<Net, Cluster, Wish.memory>)>,
                                            memory_limit<static_cast<std::int64_t>(n.value)>,
                                            remedy::relax_this_limit_or_add_devices>>{};
}

/// A null pointer to a function whose return type is the mapping, or the named error why there is none.
template <class Net, class Cluster, class... W> consteval auto best() {
  constexpr wish w = wish_of<W...>();
  if constexpr (!graph::network_type<Net>)
    return failing<error::not_a_network<Net, remedy::pass_the_network_struct_of_a_header_made_by_onnx2hpp>>{};
  else if constexpr (constexpr auto v = verdict<Net, Cluster>(); !std::is_same_v<decltype(v()), int>)
    return verdict<Net, Cluster>();
  else if constexpr (w.wrong)
    return failing<error::not_a_wish<typename first_wrong<W...>::type, remedy::write_one_objective_and_limits>>{};
  else if constexpr (!w.positive)
    return failing<error::limit_not_positive<meta::type_list<W...>, remedy::give_limits_above_0>>{};
  else if constexpr (constexpr int k = without_watts<Net, Cluster>(); w.aim.best == objective::energy && k >= 0)
    return failing<
        error::watts_missing<typename at_in<typename tables<Net, Cluster>::processors>::template type<(k < 0 ? 0 : k)>,
                             remedy::give_each_processor_watts>>{};
  else if constexpr (constexpr const auto& usable = tables<Net, Cluster>::usable;
                     std::find(usable.begin(), usable.end(), true) == usable.end())
    return failing<error::no_usable_processor<Cluster, remedy::build_with_the_backend_of_a_processor_of_the_cluster>>{};
  else {
    using found = answer<Net, Cluster, w>;
    if constexpr (found::value.too_many_kinds)
      return failing<error::too_many_kinds_of_hosts<Cluster, remedy::give_the_order_with_in_order>>{};
    else if constexpr (!found::found) return none_verdict<Net, Cluster, w>();
    else return failing<typename written<Net, Cluster, found>::type>{};
  }
}

template <class T> inline constexpr bool is_mapping = false;
template <class... E> inline constexpr bool is_mapping<mapping<E...>> = true;
template <class T> using mapping_or_error = std::conditional_t<is_mapping<T>, T, error::no_mapping<T>>;

}  // namespace detail
}  // namespace dice::partition

namespace dice {

/// The best mapping of network Net on cluster Cluster, found at compile time: a `mapping` as if written by hand. `Wish` is
/// an objective (throughput unless said; latency, energy, peak_memory), limits (memory_limit<bytes>, at_least_fps<N>,
/// at_most_latency<ms<N>>), and perhaps in_order or repeats. If there is none, passing it to dice::main is a compile error
/// that says why. Exact: see docs/partitioning.md.
template <class Net, class Cluster, class... Wish>
using best_mapping = partition::detail::mapping_or_error<decltype(partition::detail::best<Net, Cluster, Wish...>()())>;

}  // namespace dice
