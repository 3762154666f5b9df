// The result of a search at compile time, of fixed size, and the mapping type made from it.
#pragma once

#include "dice/cost/check.hpp"
#include "dice/cost/setting_of.hpp"
#include "dice/meta/type_list.hpp"
#include "dice/partition/feasible.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/problem.hpp"
#include "dice/partition/search_direct.hpp"
#include "dice/placement/dsl.hpp"
#include "dice/platform/cluster.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace dice::partition {

namespace detail {

/// Maximum number of stages that best_mapping may choose.
inline constexpr std::size_t max_stages = 64;

/// A solution of fixed size for a network of `Layers` layers.
template <int Layers> struct choice {
  std::array<stage, max_stages> stages{};
  std::array<std::int64_t, max_stages> held{};                ///< bytes that the search counts for each stage's device
  std::array<int, max_stages> processor{};                    ///< by rank
  std::array<int, static_cast<std::size_t>(Layers)> owner{};  ///< by layer
  int count = 0, ranks = 0;                                   ///< 0: none
  prediction expected{};                                      ///< memory as the search counts it
  bool too_many_kinds = false;
};

template <class Net, class Cluster> constexpr auto choose(const goal& g, std::span<const std::int64_t> most) {
  problem p = problem_of(cost::setting_of<Net, Cluster>, g);
  set_limits(p, most);
  const outcome found = search_direct(cost::setting_of<Net, Cluster>, p, g);
  choice<Net::size> out;
  out.too_many_kinds = found.too_many_kinds;
  out.expected = found.best.expected;
  if (found.best.stages.size() > static_cast<int>(max_stages)) return out;
  for (const auto& s : found.best.stages) {
    const auto k = static_cast<std::size_t>(out.count++);
    out.stages[k] = s;
    out.stages[k].device = p.devices[s.device].processor;
    out.held[k] = memory_of(p, found.best.stages, s.device);
  }
  if (out.count == 0) return out;
  const cost::stage_ranks all = assign(p, found.best.stages);
  for (const int device : all.devices) out.processor[out.ranks++] = p.devices[device].processor;
  std::copy(all.owner.begin(), all.owner.end(), out.owner.begin());
  return out;
}

/// Layers first … last, both included, on a rank.
struct run {
  int rank = 0, first = 0, last = 0;
};
/// The parts of a chosen mapping: the processor of each rank, and its runs of consecutive layers.
template <std::size_t Runs> struct parts {
  int ranks = 0, runs = 0;
  std::array<int, max_stages> processor{};
  std::array<run, Runs> rows{};
};

template <int Layers> constexpr auto parts_of(const choice<Layers>& c) {
  parts<static_cast<std::size_t>(Layers)> out;
  out.ranks = c.ranks;
  out.processor = c.processor;
  for (int rank = 0; rank < out.ranks; ++rank)
    for (int l = 0; l < Layers; ++l) {
      if (c.owner[l] != rank) continue;
      auto* before = out.runs ? &out.rows[out.runs - 1] : nullptr;
      if (before && before->rank == rank && before->last == l - 1) before->last = l;
      else out.rows[out.runs++] = {rank, l, l};
    }
  return out;
}

template <class Net, int First, int Last> struct row {
  using type = range<typename Net::template layer<First>, typename Net::template layer<Last>>;
};
template <class Net, int Id> struct row<Net, Id, Id> { using type = typename Net::template layer<Id>; };

template <class Host> struct tie;
template <meta::fixed_string Name, class Board> struct tie<host<Name, Board>> { using type = on<Name>; };

template <int Rank, class Unit, bool Direct, class Host> struct found_dev { using type = dev<Rank, Unit, Host>; };
template <int Rank, class Unit, class Host> struct found_dev<Rank, Unit, true, Host> {
  using type = dev<Rank, Unit, direct_convolutions, Host>;
};

template <class List, class... More> struct joined_mapping;
template <class... A> struct joined_mapping<meta::type_list<A...>> { using type = mapping<A...>; };
template <class... A, class D, class L, class... Rest>
struct joined_mapping<meta::type_list<A...>, meta::type_list<D, L>, Rest...>
    : joined_mapping<meta::type_list<A..., D, L>, Rest...> {};

/// Choice::value as a mapping type.
template <class Net, class Cluster, class Choice> struct written {
  static constexpr auto all = parts_of(Choice::value);
  using values = platform::cluster_values<Cluster>;

  template <int Rank>
  static constexpr int first_row = [] {
    int at = 0;
    while (all.rows[at].rank != Rank) ++at;
    return at;
  }();
  template <int Rank>
  static constexpr int rows = [] {
    int n = 0;
    for (int k = 0; k < all.runs; ++k) n += all.rows[k].rank == Rank;
    return n;
  }();
  template <int Rank, int... K>
  static auto layers_of(std::integer_sequence<int, K...>)
      -> layers<typename row<Net, all.rows[first_row<Rank> + K].first, all.rows[first_row<Rank> + K].last>::type...>;
  template <int Rank> struct entry {
    static constexpr int processor = all.processor[Rank];
    using on =
        platform::processor_traits<typename cost::detail::at_in<typename values::processors>::template type<processor>>;
    using host = typename cost::detail::at_in<typename platform::cluster_traits<Cluster>::hosts>::template type<
        values::view.host_of[processor]>;
    using type = meta::type_list<
        typename found_dev<Rank, typename on::unit_type, on::value.unit.direct, typename tie<host>::type>::type,
        decltype(layers_of<Rank>(std::make_integer_sequence<int, rows<Rank>>{}))>;
  };
  template <int... Rank>
  static auto join(std::integer_sequence<int, Rank...>) -> joined_mapping<meta::type_list<>, typename entry<Rank>::type...>;
  using type = typename decltype(join(std::make_integer_sequence<int, all.ranks>{}))::type;
};

}  // namespace detail
}  // namespace dice::partition
