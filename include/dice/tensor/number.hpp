#pragma once

#include <cstdint>

namespace dice::tensor {

/// The type in which numbers leave a network, and in which files may have those that enter. Within it, all are float32,
/// which holds every integer up to 2^24.
enum class number : std::uint8_t { float32, int64, int32, uint8, boolean };

/// f(T()) for the C++ type T of `n`.
template <class F> constexpr auto with_type_of(number n, F&& f) {
  switch (n) {
    case number::int64:
      return f(std::int64_t());
    case number::int32:
      return f(std::int32_t());
    case number::uint8:
      return f(std::uint8_t());
    case number::boolean:
      return f(bool());
    case number::float32:
      break;
  }
  return f(float());
}

namespace detail {

template <number N> struct type_of { using type = float; };
template <> struct type_of<number::int64> { using type = std::int64_t; };
template <> struct type_of<number::int32> { using type = std::int32_t; };
template <> struct type_of<number::uint8> { using type = std::uint8_t; };
template <> struct type_of<number::boolean> { using type = bool; };

}  // namespace detail

/// The C++ type of `N`.
template <number N> using number_type = typename detail::type_of<N>::type;

}  // namespace dice::tensor
