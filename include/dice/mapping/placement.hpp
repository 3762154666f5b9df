#pragma once

#include "dice/mapping/dsl.hpp"
#include "dice/meta/array.hpp"
#include "dice/model/network.hpp"
#include "dice/platform/dev.hpp"

#include <array>
#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <type_traits>

namespace dice::placement {

template <class T> inline constexpr bool is_layers = false;
template <class... Entry> inline constexpr bool is_layers<layers<Entry...>> = true;
template <class T> inline constexpr int frames = -1;
template <int N> inline constexpr int frames<in_flight<N>> = N;
template <class T> inline constexpr bool is_in_flight = false;
template <int N> inline constexpr bool is_in_flight<in_flight<N>> = true;

/// The entries of a mapping, or of a split written as one, as a Hana tuple of types; `is` says what T is.
enum class form : unsigned char { none, mapping, split };
template <class T> struct entries_of { static constexpr form is = form::none; };
template <class... E> struct entries_of<mapping<E...>> {
  static constexpr form is = form::mapping;
  static constexpr auto list = boost::hana::tuple_t<E...>;
};
template <class Net, int... P, class... D> struct entries_of<split<Net, points<P...>, D...>> {
  static constexpr form is = form::split;
  using network = Net;
  static constexpr auto list = boost::hana::tuple_t<D...>;
  static constexpr std::array<int, sizeof...(P)> cuts{P...};
};

/// A `struct deployment : mapping<…> {}` counts as the mapping it derives from.
template <class... E> mapping<E...> base_mapping(const mapping<E...>*);
template <class N, class P, class... D> split<N, P, D...> base_mapping(const split<N, P, D...>*);
template <class T> T base_mapping(...);
template <class T> struct normal {
  template <class U> static auto ask(const U* p) -> decltype(base_mapping(p));
  template <class U> static U ask(...);
  using type = decltype(ask<T>(nullptr));
};
template <class T> using entries = entries_of<typename normal<T>::type>;

/// The result for a network of `Size` layers: rank of each layer, devices in order of rank.
template <int Size, int Ranks> struct table {
  std::array<int, Size> owner{};
  std::array<platform::device, Ranks> devices{};
  int in_flight = 1;
};

/// Frames in flight when the mapping does not say: one for one rank, else two for each rank, at most 16.
constexpr int default_in_flight(int ranks) { return ranks == 1 ? 1 : ranks < 8 ? 2 * ranks : 16; }

namespace detail {

template <int Size> struct marks {
  std::array<int, Size> owner{};
  std::array<int, Size> devices{};  ///< devices that list the layer
  std::array<int, Size> last{};     ///< 1 + the latest device that listed it
};

template <int Size> constexpr void mark(marks<Size>& m, int position, int rank, int first, int last) {
  for (int i = first; i <= last; ++i) {
    if (m.last[i] == position + 1) continue;
    m.last[i] = position + 1;
    m.owner[i] = rank;
    ++m.devices[i];
  }
}

template <class T> struct entry {
  static constexpr int first(int) { return T::id; }
  static constexpr int last(int) { return T::id; }
};
template <class A, class B> struct entry<range<A, B>> {
  static constexpr int first(int) { return A::id; }
  static constexpr int last(int) { return B::id; }
};
template <class A> struct entry<from<A>> {
  static constexpr int first(int) { return A::id; }
  static constexpr int last(int size) { return size - 1; }
};
template <class A> struct entry<to<A>> {
  static constexpr int first(int) { return 0; }
  static constexpr int last(int) { return A::id; }
};
template <> struct entry<all> {
  static constexpr int first(int) { return 0; }
  static constexpr int last(int size) { return size - 1; }
};

template <int Size, class... E> constexpr void mark(marks<Size>& m, int position, int rank, layers<E...>) {
  int each[] = {0, (mark(m, position, rank, entry<E>::first(Size), entry<E>::last(Size)), 0)...};
  (void)each;
}

/// Marks the layers of every device; assumes that the entries themselves are right.
template <class Net, class Map> constexpr marks<Net::size> mark_all() {
  marks<Net::size> m{};
  int position = -1, rank = 0;
  boost::hana::for_each(entries<Map>::list, [&](auto type) {
    using E = typename decltype(type)::type;
    if constexpr (platform::is_dev<E>) {
      rank = E::rank, ++position;
      if constexpr (entries<Map>::is == form::split) {
        const auto& cuts = entries<Map>::cuts;
        mark(m, position, rank, position ? cuts[static_cast<std::size_t>(position) - 1] : 0,
             position < static_cast<int>(cuts.size()) ? cuts[static_cast<std::size_t>(position)] - 1 : Net::size - 1);
      }
    } else if constexpr (is_layers<E>) {
      mark(m, position, rank, E{});
    }
  });
  return m;
}

template <class Map> constexpr int count_devices() {
  int n = 0;
  boost::hana::for_each(entries<Map>::list, [&](auto type) { n += platform::is_dev<typename decltype(type)::type>; });
  return n;
}

template <class Net, class Map> constexpr auto place() {
  constexpr int ranks = count_devices<Map>();
  table<Net::size, ranks> t{};
  t.owner = mark_all<Net, Map>().owner;
  t.in_flight = default_in_flight(ranks);
  boost::hana::for_each(entries<Map>::list, [&](auto type) {
    using E = typename decltype(type)::type;
    if constexpr (platform::is_dev<E>) t.devices[E::rank] = platform::dev_traits<E>::value;
    if constexpr (is_in_flight<E>) t.in_flight = frames<E>;
  });
  return t;
}

}  // namespace detail

/// The placement of a mapping that `check` finds right.
template <class Net, class Map> inline constexpr auto of = detail::place<Net, Map>();

}  // namespace dice::placement
