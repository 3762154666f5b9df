// A growable array for constant expressions, in which clang 14 rejects libstdc++'s std::vector.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

namespace dice::meta {

/// Growable array of literal values; usable in constant expressions (transient) and at run time alike. Elements are
/// value-initialised. Indices are `int`; no bounds checks. Calls are expensive for g++ in constant expressions: where much
/// is read at compile time, read `first[i]`.
template <class T> class array {
 public:
  T* first = nullptr;

  constexpr array() = default;
  constexpr explicit array(int size) : first(size > 0 ? new T[size]{} : nullptr), size_(size), capacity_(size) {}
  constexpr array(int size, const T& value) : first(allocate(size)), size_(size), capacity_(size) {
    for (int i = 0; i < size; ++i) first[i] = value;
  }
  constexpr array(const array& other) : first(allocate(other.size_)), size_(other.size_), capacity_(size_) {
    for (int i = 0; i < size_; ++i) first[i] = other.first[i];
  }
  constexpr array(array&& other) noexcept { swap(other); }
  constexpr array& operator=(array other) noexcept {
    swap(other);
    return *this;
  }
  constexpr ~array() { delete[] first; }

  constexpr void swap(array& other) noexcept {
    std::swap(first, other.first);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  constexpr void push_back(const T& value) {
    if (size_ == capacity_) reserve(capacity_ ? 2 * capacity_ : 16);
    first[size_++] = value;
  }
  constexpr void reserve(int capacity) {
    if (capacity <= capacity_) return;
    T* grown = allocate(capacity);
    for (int i = 0; i < size_; ++i) grown[i] = first[i];
    delete[] first;
    first = grown;
    capacity_ = capacity;
  }
  /// Inserts before `position`; later elements move up.
  constexpr void insert(int position, const T& value) {
    push_back(value);
    for (T *at = first + size_ - 1, *to = first + position; at != to; --at) *at = at[-1];
    first[position] = value;
  }
  /// Drops the elements from `size` on; never grows.
  constexpr void truncate(int size) { size_ = std::min(size, size_); }

  constexpr T& operator[](int i) { return first[i]; }
  constexpr const T& operator[](int i) const { return first[i]; }
  constexpr int size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* data() { return first; }
  constexpr const T* data() const { return first; }
  constexpr T* begin() { return first; }
  constexpr T* end() { return first + size_; }
  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + size_; }

 private:
  /// Numbers are left without values.
  static constexpr T* allocate(int size) {
    if (size <= 0) return nullptr;
    if constexpr (std::is_scalar_v<T>) return new T[size];
    else return new T[size]{};
  }

  int size_ = 0, capacity_ = 0;
};

}  // namespace dice::meta
