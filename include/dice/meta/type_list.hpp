#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace dice::meta {

template <class... T> struct type_list {};

namespace detail {
template <std::size_t Index, class T> struct indexed { using type = T; };
template <class Sequence, class... T> struct indexer;
template <std::size_t... Index, class... T> struct indexer<std::index_sequence<Index...>, T...> : indexed<Index, T>... {};
template <std::size_t Index, class T> indexed<Index, T> pick(indexed<Index, T>*);
}  // namespace detail

/// The `Index`-th of the types; costs one class template per list, not per element.
template <std::size_t Index, class... T>
using type_at = typename decltype(detail::pick<Index>(
    static_cast<detail::indexer<std::index_sequence_for<T...>, T...>*>(nullptr)))::type;

namespace detail {
template <class List, class T> inline constexpr bool contains = false;
template <class... All, class T> inline constexpr bool contains<type_list<All...>, T> = (std::is_same_v<All, T> || ...);
}  // namespace detail

/// Whether T is one of the list's types.
template <class List, class T>
concept contains = detail::contains<List, T>;

}  // namespace dice::meta
