// Kinds of storage for structs whose members are lists: each such struct is a template basic_x<Storage>, has a member
// `typename Storage::template list<T, Number>` for its list number Number, and names all of them in this order by
// DICE_MEMBERS.
#pragma once

#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"

#include <array>
#include <cstddef>
#include <type_traits>

namespace dice::meta {

/// In arrays that grow. Works in constant expressions, but cannot be kept from one to the next.
struct in_arrays {
  template <class T, int> using list = array<T>;
};
/// Views: the elements are elsewhere.
struct in_views {
  template <class T, int> using list = view<T>;
};
/// Only the length of each list.
struct as_sizes {
  template <class, int> using list = std::size_t;
};

namespace detail {

struct lengths {
  std::size_t of[16];
};
template <class Sizes> constexpr lengths lengths_of(const Sizes& sizes) {
  return sizes.with_members([](auto... all) { return lengths{{all...}}; });
}
template <class T> constexpr void copy(T* to, const T* from, std::size_t size) {
  for (const T* end = from + size; from != end; ++from, ++to) *to = *from;
}

}  // namespace detail

/// In arrays of the sizes that Sizes has, which is a basic_x<as_sizes>.
template <auto Sizes> struct in_fixed_arrays {
  static constexpr detail::lengths lengths = detail::lengths_of(Sizes);
  template <class T, int Number> using list = std::array<T, lengths.of[Number]>;
};

/// How long the lists are, as a basic_x<as_sizes> that begins with them.
template <class Sizes, class From> constexpr Sizes sizes_of(const From& from) {
  return from.with_members([](const auto&... all) { return Sizes{static_cast<std::size_t>(all.size())...}; });
}
/// Gives the lists of `to` these lengths, with new elements.
template <class To, class Sizes> constexpr void resize_lists(To& to, const Sizes& sizes) {
  sizes.with_members([&](auto... size) {
    to.with_members([&](auto&... list) { ((list = std::remove_cvref_t<decltype(list)>(static_cast<int>(size))), ...); });
  });
}
/// Copies the lists of `from`, or as many elements of them as `sizes` says, into lists with room for them.
template <class To, class From, class Sizes> constexpr void copy_lists(To& to, const From& from, const Sizes& sizes) {
  sizes.with_members([&](auto... size) {
    from.with_members([&](const auto&... list) {
      to.with_members([&](auto&... copy) { (detail::copy(copy.data(), list.data(), size), ...); });
    });
  });
}

}  // namespace dice::meta
