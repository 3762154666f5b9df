#pragma once

#include <cstddef>

namespace dice::meta {

/// A view of contiguous values. A std::span costs the compiler 160 classes for each element type.
template <class T> struct view {
  const T* first = nullptr;
  std::size_t count = 0;

  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + count; }
  constexpr std::size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr const T& operator[](std::size_t i) const { return first[i]; }
};

}  // namespace dice::meta
