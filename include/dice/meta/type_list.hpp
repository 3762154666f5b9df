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

}  // namespace dice::meta
