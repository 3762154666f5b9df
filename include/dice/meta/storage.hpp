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

/// In arrays that grow, also in constant expressions, but not from one to the next.
struct in_arrays {
  template <class T, int> using list = array<T>;
};
/// Elsewhere: the lists are views.
struct in_views {
  template <class T, int> using list = view<T>;
};
/// How long each list is, and nothing of it.
struct as_sizes {
  template <class, int> using list = std::size_t;
};

/// How long list `Number` is.
template <int Number, class All> constexpr auto nth_list(const All& all) {
  std::size_t out = 0;
  all.with_members([&](auto... sizes) {
    int i = 0;
    ((out = i++ == Number ? sizes : out), ...);
  });
  return out;
}

/// In arrays of the sizes that Sizes has, which is a basic_x<as_sizes>.
template <auto Sizes> struct in_fixed_arrays {
  template <class T, int Number> using list = std::array<T, nth_list<Number>(Sizes)>;
};

/// f(a list of `to`, the same list of `from`) for each list in turn.
template <class To, class From, class F> constexpr void for_each_list(To& to, const From& from, const F& f) {
  from.with_members([&](const auto&... of_from) { to.with_members([&](auto&... of_to) { (f(of_to, of_from), ...); }); });
}

/// Makes `to` views of the lists of `from`.
template <class To, class From> constexpr void view_lists(To& to, const From& from) {
  for_each_list(to, from, [](auto& list, const auto& of) { list = of; });
}
/// Takes the lengths of the lists of `from`.
template <class To, class From> constexpr void measure_lists(To& to, const From& from) {
  for_each_list(to, from, [](std::size_t& size, const auto& of) { size = static_cast<std::size_t>(of.size()); });
}
/// Gives the lists of `to` these lengths, with new elements.
template <class To, class Sizes> constexpr void resize_lists(To& to, const Sizes& sizes) {
  for_each_list(to, sizes,
                [](auto& list, std::size_t size) { list = std::remove_cvref_t<decltype(list)>(static_cast<int>(size)); });
}
/// Copies as much as the shorter of both lists has.
template <class To, class From> constexpr void copy_lists(To& to, const From& from) {
  for_each_list(to, from, [](auto& list, const auto& of) {
    const auto *first = of.data(),
               *end = first + (list.size() < static_cast<std::size_t>(of.size()) ? list.size() : of.size());
    for (auto* at = list.data(); first != end; ++first, ++at) *at = *first;
  });
}

}  // namespace dice::meta
