// From the types that users write to values.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/view.hpp"
#include "dice/placement/dsl.hpp"
#include "dice/placement/written.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace dice::placement {

namespace detail {

template <class Net, class L> constexpr int id_in() {
  if constexpr (requires {
                  { L::id } -> std::convertible_to<int>;
                }) {
    if constexpr (L::id >= 0 && L::id < Net::size)
      if constexpr (std::is_same_v<typename Net::template layer<L::id>, L>) return L::id;
  }
  return -1;
}
/// The id of layer L; -1 if it is not in network Net.
template <class Net, class L> inline constexpr int id_of = id_in<Net, L>();

template <class Net, class L> constexpr bool belongs() { return id_of<Net, L> >= 0; }

template <class Net, class T> inline constexpr interval interval_of{id_of<Net, T>, id_of<Net, T>};
template <class Net, class A, class B> inline constexpr interval interval_of<Net, range<A, B>>{id_of<Net, A>, id_of<Net, B>};
template <class Net, class A> inline constexpr interval interval_of<Net, from<A>>{id_of<Net, A>, Net::size - 1};
template <class Net, class A> inline constexpr interval interval_of<Net, to<A>>{0, id_of<Net, A>};
template <class Net> inline constexpr interval interval_of<Net, all>{0, Net::size - 1};

// Arrays have one extra element, since they have at least one.
template <class Net, class... T> inline constexpr interval lists_of[]{interval_of<Net, T>..., {}};
template <int... N> inline constexpr int numbers_in[]{N..., 0};

/// A layer or option of a work as an option.
struct written_option {
  option is = option::none;
  meta::view<int> shares{};
  int every = 1;
};
// Functions, because a variable for each layer costs the compiler more.
constexpr written_option option_of(...) { return {}; }
template <int... N> constexpr written_option option_of(const shares<N...>*) {
  return {option::shares, {numbers_in<N...>, sizeof...(N)}};
}
template <int N> constexpr written_option option_of(const exchange_every<N>*) { return {option::exchange_every, {}, N}; }
constexpr written_option option_of(const first_free*) { return {option::first_free}; }
template <class... T> inline constexpr written_option options_of[]{option_of(static_cast<const T*>(nullptr))..., {}};

/// A work with this word, these layers and options. `layers` has an element for each option, too.
consteval entry entry_of_work(int word, const interval* layers, meta::view<written_option> all, int down = 1,
                              int across = 1) {
  written_work w{.word = word, .down = down, .across = across, .lists{layers, 0}};
  int at = 0;
  for (const auto& o : all) {
    if (!w.take(o.is, at++)) continue;
    if (o.is == option::none) ++w.lists.count;
    if (o.is == option::shares) w.shares = o.shares;
    if (o.is == option::exchange_every) w.exchange_every = o.every;
  }
  return {.what = entry::kind::work, .work = w};
}

/// The number of the word that a template is; -1 if it is not one.
template <template <class...> class T> inline constexpr int word_of = -1;
template <> inline constexpr int word_of<layers> = word_number("layers");
template <> inline constexpr int word_of<rows> = word_number("rows");
template <> inline constexpr int word_of<columns> = word_number("columns");
template <> inline constexpr int word_of<output_channels> = word_number("output_channels");
template <> inline constexpr int word_of<input_channels> = word_number("input_channels");
template <> inline constexpr int word_of<replicas> = word_number("replicas");

template <class Net, class E> inline constexpr entry entry_of{};
template <class Net, int Rank, class Unit, class... Limits>
inline constexpr entry entry_of<Net, dev<Rank, Unit, Limits...>>{
    .what = entry::kind::dev, .dev = platform::dev_traits<dev<Rank, Unit, Limits...>>::written};
template <class Net, int... R>
inline constexpr entry entry_of<Net, ranks<R...>>{.what = entry::kind::ranks, .ranks{numbers_in<R...>, sizeof...(R)}};
template <class Net, template <class...> class Word, class... T>
requires(word_of<Word> >=
         0) inline constexpr entry entry_of<Net, Word<T...>> = entry_of_work(word_of<Word>, lists_of<Net, T...>,
                                                                             {options_of<T...>, sizeof...(T)});
template <class Net, int Rows, int Columns, class... T>
inline constexpr entry entry_of<Net, tiles<Rows, Columns, T...>> = entry_of_work(word_number("tiles"), lists_of<Net, T...>,
                                                                                 {options_of<T...>, sizeof...(T)}, Rows,
                                                                                 Columns);
template <class Net, int N> inline constexpr entry entry_of<Net, in_flight<N>>{.what = entry::kind::in_flight, .frames = N};

template <class Net, class... E> inline constexpr entry entries_in[]{entry_of<Net, E>..., {}};

}  // namespace detail

/// What a mapping or split is made of; `is` says what T is.
template <class T> struct entries_of {
  static constexpr form is = form::none;
  template <class> static constexpr written_mapping values{};
};
template <class... E> struct entries_of<mapping<E...>> {
  static constexpr form is = form::mapping;
  template <class Net>
  static constexpr written_mapping values{form::mapping, true, {detail::entries_in<Net, E...>, sizeof...(E)}, {}};
};
template <class Of, int... P, class... D> struct entries_of<split<Of, points<P...>, D...>> {
  static constexpr form is = form::split;
  using network = Of;
  template <class Net>
  static constexpr written_mapping values{form::split,
                                          std::is_same_v<Net, Of>,
                                          {detail::entries_in<Net, D...>, sizeof...(D)},
                                          {detail::numbers_in<P...>, sizeof...(P)}};
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

/// Mapping Map for network Net as values.
template <class Net, class Map> inline constexpr written_mapping written = entries<Map>::template values<Net>;

}  // namespace dice::placement
