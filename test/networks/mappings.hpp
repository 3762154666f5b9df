// The mappings under which every test network runs.
#pragma once

#include <dice/dice.hpp>

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace mappings {

/// The device of each rank.
struct on_cpus {
  template <int Rank> using dev = dice::dev<Rank, dice::cpu>;
};
struct on_gpus {
  template <int Rank> using dev = dice::dev<Rank, dice::gpu>;
};
template <class Numbers> struct on_gpus_in {
  template <int Rank> using dev = dice::dev<Rank, dice::gpu, dice::precision<Numbers>>;
};
struct in_turn {  ///< GPU, CPU, GPU, …
  template <int Rank> using dev = dice::dev<Rank, std::conditional_t<Rank % 2 == 0, dice::gpu_at<0>, dice::cpu>>;
};

namespace detail {

template <class Network, class On, class Rank, class Cut> struct even;
template <class Network, class On, int... Rank, int... Cut>
struct even<Network, On, std::integer_sequence<int, Rank...>, std::integer_sequence<int, Cut...>> {
  using type = dice::split<Network, dice::points<Network::size*(Cut + 1) / static_cast<int>(sizeof...(Rank))...>,
                           typename On::template dev<Rank>...>;
};
template <class Network, class On> struct even<Network, On, std::integer_sequence<int, 0>, std::integer_sequence<int>> {
  using type = dice::mapping<typename On::template dev<0>, dice::layers<dice::all>>;
};

/// Ids of a network's layers, grouped by the ranks to which a seeded generator deals them; every rank gets at least one.
template <int Size, int Ranks> struct deal {
  std::array<int, Size> ids{};
  std::array<int, Ranks + 1> first{};  ///< of rank r: ids[first[r]] … ids[first[r + 1] - 1]

  consteval explicit deal(std::uint32_t seed) {
    std::array<int, Size> owner{};
    for (int id = 0; id < Size; ++id) {
      seed = seed * 1664525u + 1013904223u;  // the generator of Numerical Recipes
      owner[id] = id < Ranks ? id : static_cast<int>((seed >> 16) % Ranks);
    }
    int at = 0;
    for (int rank = 0; rank < Ranks; ++rank) {
      first[rank] = at;
      for (int id = 0; id < Size; ++id)
        if (owner[id] == rank) ids[at++] = id;
    }
    first[Ranks] = at;
  }
};

template <class Network, int Ranks, std::uint32_t Seed> struct scattered {
  static constexpr deal<Network::size, Ranks> dealt{Seed};
  template <int Rank, int... I>
  static auto list(std::integer_sequence<int, I...>)
      -> dice::layers<typename Network::template layer<dealt.ids[dealt.first[Rank] + I]>...>;
  template <int Rank>
  using layers_of = decltype(list<Rank>(std::make_integer_sequence<int, dealt.first[Rank + 1] - dealt.first[Rank]>{}));
};

}  // namespace detail

/// The same number of layers on each of `Ranks` ranks, in order of their ids.
template <class Network, int Ranks, class On = on_cpus>
using even = typename detail::even<Network, On, std::make_integer_sequence<int, Ranks>,
                                   std::make_integer_sequence<int, Ranks - 1>>::type;

/// Every layer on a random one of four ranks: back and forth, edges that skip ranks, results that several ranks need.
template <class Network, std::uint32_t Seed, class On = on_cpus, class Deal = detail::scattered<Network, 4, Seed>>
using scattered =
    dice::mapping<typename On::template dev<0>, typename Deal::template layers_of<0>,  //
                  typename On::template dev<1>, typename Deal::template layers_of<1>, typename On::template dev<2>,
                  typename Deal::template layers_of<2>, typename On::template dev<3>, typename Deal::template layers_of<3>>;

}  // namespace mappings
