#pragma once

#include <cstdint>
#include <stdexcept>

namespace dice::tensor {

/// What the elements of a tensor are: in memory, in files, and for the model. Today's kernels compute on float32, which
/// holds every integer up to 2^24; graph inputs and outputs may have another type outside the network.
enum class number : std::uint8_t { float32, int64, int32, uint8, boolean, int8, float16, bfloat16 };

namespace detail {
inline constexpr std::int64_t sizes[]{4, 8, 4, 1, 1, 1, 2, 2};
}

/// Bytes of one.
constexpr std::int64_t size_of(number n) { return detail::sizes[static_cast<int>(n)]; }
/// Of those on which kernels compute.
inline constexpr std::int64_t float_bytes = size_of(number::float32);

namespace detail {

template <number N> struct type_of;
template <> struct type_of<number::float32> { using type = float; };
template <> struct type_of<number::int64> { using type = std::int64_t; };
template <> struct type_of<number::int32> { using type = std::int32_t; };
template <> struct type_of<number::uint8> { using type = std::uint8_t; };
template <> struct type_of<number::boolean> { using type = bool; };
template <> struct type_of<number::int8> { using type = std::int8_t; };

}  // namespace detail

/// The C++ type of `N`; those of 16 bits have none.
template <number N> using number_type = typename detail::type_of<N>::type;

/// f(T()) for the C++ type T of `n`. Throws std::invalid_argument if it has none.
template <class F> constexpr auto with_type_of(number n, F&& f) {
  switch (n) {
    case number::float32:
      return f(float());
    case number::int64:
      return f(std::int64_t());
    case number::int32:
      return f(std::int32_t());
    case number::uint8:
      return f(std::uint8_t());
    case number::boolean:
      return f(bool());
    case number::int8:
      return f(std::int8_t());
    case number::float16:
    case number::bfloat16:
      break;
  }
  throw std::invalid_argument("numbers of 16 bits have no C++ type");
}

}  // namespace dice::tensor
