// A view of constant values, for constant expressions: a std::span costs the compiler 160 classes for each element type, and
// three to five calls for each element that is read.
#pragma once

#include <concepts>
#include <cstddef>

namespace dice::meta {

/// A view of contiguous values. Indices may be of any type of integer: no bounds checks.
template <class T> struct view {
  const T* first = nullptr;
  std::size_t count = 0;

  constexpr view() = default;
  constexpr view(const T* at, std::integral auto size) : first(at), count(static_cast<std::size_t>(size)) {}
  template <std::size_t N> constexpr view(const T (&all)[N]) : first(all), count(N) {}
  /// Of all of a container.
  template <class All>
  requires requires(const All& all, const T*& at) {
    at = all.data();
    all.size();
  }
  constexpr view(const All& all) : first(all.data()), count(static_cast<std::size_t>(all.size())) {}

  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + count; }
  constexpr std::size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr const T* data() const { return first; }
  constexpr const T& operator[](std::ptrdiff_t i) const { return first[i]; }
  constexpr const T& front() const { return first[0]; }
  constexpr const T& back() const { return first[count - 1]; }
  /// The values from `from` on: `size` of them, or all.
  constexpr view subview(std::ptrdiff_t from, std::ptrdiff_t size) const { return {first + from, size}; }
  constexpr view subview(std::ptrdiff_t from) const { return {first + from, count - static_cast<std::size_t>(from)}; }
};

}  // namespace dice::meta
