#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace dice::meta {

namespace detail {

/// Converts to whatever it initialises.
struct anything {
  template <class T> constexpr operator T() const;
};

template <class T, class Indices> inline constexpr bool is_made_of = false;
template <class T, std::size_t... Index>
requires requires { T{(static_cast<void>(Index), anything{})...}; }
inline constexpr bool is_made_of<T, std::index_sequence<Index...>> = true;

template <class T, std::size_t Least = 0> constexpr std::size_t count_members() {
  if constexpr (is_made_of<T, std::make_index_sequence<Least + 1>>) return count_members<T, Least + 1>();
  else return Least;
}

}  // namespace detail

/// The number of data members of an aggregate, none of which is an array of the language (std::array can be).
template <class T>
requires std::is_aggregate_v<T>
inline constexpr std::size_t member_count = detail::count_members<T>();

}  // namespace dice::meta
