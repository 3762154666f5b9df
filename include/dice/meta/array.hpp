// A growable array for constant expressions, in which clang 14 rejects libstdc++'s std::vector.
#pragma once

#include <algorithm>
#include <utility>

namespace dice::meta {

/// Growable array of literal values; usable in constant expressions (transient) and at run time alike.
/// Elements are value-initialised. Indices are `int`; no bounds checks.
template <class T> class array {
 public:
  constexpr array() = default;
  constexpr explicit array(int size) : data_(size > 0 ? new T[size]{} : nullptr), size_(size), capacity_(size) {}
  constexpr array(int size, const T& value) : array(size) {
    for (int i = 0; i < size; ++i) data_[i] = value;
  }
  constexpr array(const array& other) : array(other.size_) {
    for (int i = 0; i < size_; ++i) data_[i] = other.data_[i];
  }
  constexpr array(array&& other) noexcept { swap(other); }
  constexpr array& operator=(array other) noexcept {
    swap(other);
    return *this;
  }
  constexpr ~array() { delete[] data_; }

  constexpr void swap(array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  constexpr void push_back(const T& value) {
    if (size_ == capacity_) reserve(capacity_ ? 2 * capacity_ : 16);
    data_[size_++] = value;
  }
  constexpr void reserve(int capacity) {
    if (capacity <= capacity_) return;
    T* grown = new T[capacity]{};
    for (int i = 0; i < size_; ++i) grown[i] = data_[i];
    delete[] data_;
    data_ = grown;
    capacity_ = capacity;
  }
  /// Inserts before `position`; later elements move up.
  constexpr void insert(int position, const T& value) {
    push_back(value);
    for (T *at = data_ + size_ - 1, *to = data_ + position; at != to; --at) *at = at[-1];
    data_[position] = value;
  }
  /// Drops the elements from `size` on; never grows.
  constexpr void truncate(int size) { size_ = std::min(size, size_); }

  constexpr T& operator[](int i) { return data_[i]; }
  constexpr const T& operator[](int i) const { return data_[i]; }
  constexpr int size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* data() { return data_; }
  constexpr const T* data() const { return data_; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }

 private:
  T* data_ = nullptr;
  int size_ = 0, capacity_ = 0;
};

}  // namespace dice::meta
