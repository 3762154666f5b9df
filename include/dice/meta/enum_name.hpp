// The names of an enumeration's values, taken from what g++ and clang call an instantiated template. For enumerations with
// the values 0, 1, 2, … and one name for each.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace dice::meta {

namespace detail {

/// Such as "dice::ops::padding::edge"; "(dice::ops::padding)7" for a value without a name.
template <auto Value> constexpr std::string_view spelled() {
  const std::string_view all = __PRETTY_FUNCTION__;  // … [with auto Value = dice::ops::padding::edge; …]
  constexpr std::string_view before = "Value = ";
  const auto from = all.find(before) + before.size();
  return all.substr(from, all.find_first_of(";]", from) - from);
}

/// Whether the value's last part is a name: numbers follow the type in brackets.
template <auto Value> constexpr bool is_named() {
  const auto text = spelled<Value>();
  const auto last = text[text.find_last_of("):") + 1];
  return last != '-' && !(last >= '0' && last <= '9');
}

template <class Enum, std::size_t Least = 0> constexpr std::size_t count_values() {
  if constexpr (is_named<static_cast<Enum>(Least)>()) return count_values<Enum, Least + 1>();
  else return Least;
}

template <class Enum, std::size_t... Index> constexpr auto spell_all(std::index_sequence<Index...>) {
  return std::array<std::string_view, sizeof...(Index)>{spelled<static_cast<Enum>(Index)>()...};
}

}  // namespace detail

/// The number of values.
template <class Enum>
requires std::is_enum_v<Enum>
inline constexpr std::size_t value_count = detail::count_values<Enum>();

/// The name of a value with its namespaces and its type: "dice::ops::padding::edge"; "" if it has none.
template <class Enum>
requires std::is_enum_v<Enum>
constexpr std::string_view qualified_name(Enum value) {
  constexpr auto all = detail::spell_all<Enum>(std::make_index_sequence<value_count<Enum>>());
  const auto i = static_cast<std::size_t>(value);
  return i < all.size() ? all[i] : std::string_view{};
}

/// The name alone: "edge"; "" if it has none.
template <class Enum>
requires std::is_enum_v<Enum>
constexpr std::string_view enum_name(Enum value) {
  const auto name = qualified_name(value);
  return name.substr(name.rfind(':') + 1);
}

/// The value of this name, which enum_name() would give.
template <class Enum>
requires std::is_enum_v<Enum>
constexpr std::optional<Enum> enum_value(std::string_view name) {
  for (std::size_t i = 0; i < value_count<Enum>; ++i)
    if (enum_name(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
  return {};
}

}  // namespace dice::meta
