// The data members of a struct by their names. The struct lists them once, by DICE_MEMBERS, and code that writes, reads or
// compares such structs follows from the list. Also for C++17, in which CUDA kernels are compiled.
#pragma once

#include <cstddef>
#include <string_view>

/// In a struct: lists its data members in the order of their declaration. A program that does not use the list compiles none
/// of it.
#define DICE_MEMBERS(...)                                                                                      \
  static constexpr const char* member_names = #__VA_ARGS__;                                                    \
  template <class Visitor_> constexpr auto with_members(Visitor_&& visitor_) { return visitor_(__VA_ARGS__); } \
  template <class Visitor_> constexpr auto with_members(Visitor_&& visitor_) const { return visitor_(__VA_ARGS__); }

namespace dice::meta {

/// Removes the first of the names in a list that commas separate, and returns it.
constexpr std::string_view take_name(std::string_view& names) {
  const auto end = names.find(','), from = names.find_first_not_of(' ');
  const auto name = from >= end ? std::string_view{} : names.substr(from, (end < names.size() ? end : names.size()) - from);
  names.remove_prefix(end < names.size() ? end + 1 : names.size());
  return name;
}

/// Whether a list of names has this one.
constexpr bool has_name(std::string_view names, std::string_view name) {
  while (!names.empty())
    if (take_name(names) == name) return true;
  return false;
}

constexpr std::size_t count_names(std::string_view names) {
  std::size_t count = 0;
  for (; !names.empty(); take_name(names)) ++count;
  return count;
}

/// f(name, member) for each member in turn. T has DICE_MEMBERS and may be const.
template <class T, class F> constexpr void for_each_member(T& object, F&& f) {
  std::string_view names = T::member_names;
  object.with_members([&](auto&... members) { (f(take_name(names), members), ...); });
}

/// f(name, member of a, the same member of b) for each member in turn.
template <class T, class F> constexpr void for_each_member(const T& a, const T& b, F&& f) {
  std::string_view names = T::member_names;
  a.with_members(
      [&](const auto&... of_a) { b.with_members([&](const auto&... of_b) { (f(take_name(names), of_a, of_b), ...); }); });
}

}  // namespace dice::meta
