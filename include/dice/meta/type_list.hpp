#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace dice::meta {

template <class... T> struct type_list {};

namespace detail {
template <std::size_t I, class T> struct indexed {
  using type = T;
};
template <class I, class... T> struct indexer;
template <std::size_t... I, class... T> struct indexer<std::index_sequence<I...>, T...> : indexed<I, T>... {};
template <std::size_t I, class T> indexed<I, T> pick(indexed<I, T>*);
}  // namespace detail

/// The I-th of the types; costs one class template per list, not per element.
template <std::size_t I, class... T>
using type_at = typename decltype(detail::pick<I>(
    static_cast<detail::indexer<std::index_sequence_for<T...>, T...>*>(nullptr)))::type;

}  // namespace dice::meta
