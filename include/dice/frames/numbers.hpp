// Results that leave a network in a type other than float32.
#pragma once

#include "dice/tensor/number.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace dice::frames {

/// x as a T: rounded towards 0, and to the nearest that T holds; 0 for NaN. As a bool, any other number is true.
template <class T> T as_number(float x) {
  using limits = std::numeric_limits<T>;
  if constexpr (std::same_as<T, float>) return x;
  else if constexpr (std::same_as<T, bool>) return x != 0 && !std::isnan(x);
  else if (std::isnan(x)) return 0;
  else if (x <= static_cast<float>(limits::min())) return limits::min();
  else if (x >= static_cast<float>(limits::max())) return limits::max();
  else return static_cast<T>(x);
}

/// Calls write(bytes) with the bytes of `numbers` in the type `as`, some at a time.
template <class Write> void write_as(dice::tensor::number as, std::span<const float> numbers, const Write& write) {
  if (as == dice::tensor::number::float32) return write(std::as_bytes(numbers));
  dice::tensor::with_type_of(as, [&]<class T>(T) {
    std::array<T, 4096> some;
    while (!numbers.empty()) {
      const auto n = std::min(numbers.size(), some.size());
      std::transform(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(n), some.begin(), as_number<T>);
      write(std::as_bytes(std::span(some.data(), n)));
      numbers = numbers.subspan(n);
    }
  });
}

/// How .npy files name the type; "" if NumPy has none.
constexpr std::string_view npy_code(dice::tensor::number n) {
  constexpr std::string_view codes[] = {"<f4", "<i8", "<i4", "|u1", "|b1", "|i1", "<f2", ""};
  return codes[static_cast<std::size_t>(n)];
}

/// NumPy's name of the type.
inline std::string type_name(dice::tensor::number n) {
  constexpr const char* names[] = {"float32", "int64", "int32", "uint8", "bool", "int8", "float16", "bfloat16"};
  return names[static_cast<std::size_t>(n)];
}

}  // namespace dice::frames
