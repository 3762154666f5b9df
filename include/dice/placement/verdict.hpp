// The first mistake of a mapping as a type: what the compiler names.
#pragma once

#include "dice/meta/type_list.hpp"
#include "dice/placement/check.hpp"
#include "dice/placement/error.hpp"
#include "dice/placement/types.hpp"

#include <boost/hana/at.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <type_traits>

namespace dice::placement {

namespace detail {

template <class Error> using failing = Error (*)();

template <mistake What> struct remedy_type;
#define DICE_NAMES(name, arguments, fix) \
  template <> struct remedy_type<mistake::name> { using type = remedy::fix; };
DICE_MISTAKES(DICE_NAMES)
#undef DICE_NAMES
template <mistake What> using remedy_of = typename remedy_type<What>::type;

template <class Map> inline constexpr bool is_none = false;
template <class Error> inline constexpr bool is_none<error::no_mapping<Error>> = true;
template <class Error> auto reason_of(error::no_mapping<Error>) -> failing<Error>;

template <class Net, class Map> consteval finding find() {
  if constexpr (!graph::network_type<Net>) return {mistake::not_a_network};
  else if constexpr (constexpr int damaged = graph::detail::table<Net>.damaged; damaged >= 0)
    return {.what = mistake::damaged_header, .number = damaged};
  else if constexpr (is_none<Map>) return {mistake::no_mapping};
  else return check(written<Net, Map>, graph::view_of<Net>);
}

/// The layers that an entry of layers<…> names.
template <class T> struct ends {
  using first = T;
  using last = T;
};
template <class A, class B> struct ends<range<A, B>> {
  using first = A;
  using last = B;
};
template <class A> struct ends<from<A>> : ends<A> {};
template <class A> struct ends<to<A>> : ends<A> {};

/// The layer or option of a work.
template <int Index, template <class...> class Work, class... E>
auto pick(Work<E...>) -> std::type_identity<meta::type_at<Index, E...>>;
template <int Index, int Rows, int Columns, class... E>
auto pick(tiles<Rows, Columns, E...>) -> std::type_identity<meta::type_at<Index, E...>>;

/// The type of an entry of a mapping, or of a split after its points.
template <int Position, class... E>
auto entry_at(const mapping<E...>*)
    -> std::remove_cvref_t<decltype(boost::hana::at_c<Position>(boost::hana::tuple_t<E...>))>;
template <int Position, class Net, class Points, class... E>
auto entry_at(const split<Net, Points, E...>*)
    -> std::remove_cvref_t<decltype(boost::hana::at_c<Position>(boost::hana::tuple_t<E...>))>;

// What a finding is about: a layer; an entry, its unit, what it lists.
template <class Net, finding F> using layer_found = typename Net::template layer<F.number>;
template <class Map, finding F>
using entry_found = typename decltype(entry_at<F.position>(static_cast<const typename normal<Map>::type*>(nullptr)))::type;
template <class Map, finding F> using unit_found = typename platform::dev_traits<entry_found<Map, F>>::unit_type;
template <class Map, finding F> using listed = typename decltype(pick<F.index>(entry_found<Map, F>{}))::type;
/// The ends of what is listed, and the first that is not a layer of the network.
template <class T> using first_of = typename ends<T>::first;
template <class T> using last_of = typename ends<T>::last;
template <class Net, class T> using foreign_end = std::conditional_t<(id_of<Net, first_of<T>> < 0), first_of<T>, last_of<T>>;

}  // namespace detail

/// The first mistake of mapping Map for network Net.
template <class Net, class Map> inline constexpr finding found = detail::find<Net, Map>();

/// A null pointer to a function whose return type is the named error for a mistake that was found.
template <class Net, class Map, finding f> consteval auto failure() {
  using namespace detail;
  using others = error::and_others<f.more>;
  if constexpr (f.what == mistake::no_mapping) return decltype(reason_of(Map{})){};
  else if constexpr (f.what == mistake::layer_in_two_lists && f.more > 0)
    return failing<error::layer_in_two_lists<layer_found<Net, f>, f.ranks[0], f.ranks[1], others, remedy_of<f.what>>>{};
  else if constexpr (f.what == mistake::layer_without_device && f.more > 0)
    return failing<error::layer_without_device<layer_found<Net, f>, others, remedy_of<f.what>>>{};
#define DICE_LISTS(...) __VA_ARGS__
#define DICE_FAILS(name, arguments, fix) \
  else if constexpr (f.what == mistake::name) return failing<error::name<DICE_LISTS arguments remedy::fix>>{};
  DICE_MISTAKES(DICE_FAILS)
#undef DICE_FAILS
#undef DICE_LISTS
}

/// The same for the first mistake, or int if there is none.
template <class Net, class Map> consteval auto verdict() {
  if constexpr (found<Net, Map>) return failure<Net, Map, found<Net, Map>>();
  else return detail::failing<int>{};
}

}  // namespace dice::placement
