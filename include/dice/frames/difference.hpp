#pragma once

#include "dice/tensor/number.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace dice::frames {

/// How far results may be from what is expected: `given`, or by their type. Integers must be equal.
inline double tolerance_of(dice::tensor::number type, std::optional<double> given) {
  return given.value_or(type == dice::tensor::number::float32 ? 1e-4 : 0);
}
/// What difference::of() measures.
constexpr const char* error_words(dice::tensor::number type) {
  return type == dice::tensor::number::float32 ? "max |a-b| / max |b|" : "share of unequal numbers";
}

/// How far numbers are from those that are expected.
struct difference {
  double largest = 0;   ///< |a - b|; NaN if a number or a difference is NaN
  double expected = 0;  ///< the largest |b|
  std::int64_t numbers = 0, unequal = 0;

  void add(double a, double b) { add({std::abs(a - b), std::abs(b), 1, a != b}); }
  /// Adds the difference of more numbers.
  void add(const difference& more) {
    if (!(more.largest <= largest) && !std::isnan(largest)) largest = more.largest;
    expected = std::max(expected, more.expected);
    numbers += more.numbers;
    unequal += more.unequal;
  }
  /// max |a - b| / max |b|; max |a - b| if all b are zeros.
  double relative() const { return expected > 0 ? largest / expected : largest; }
  /// The number to compare with a tolerance: relative(), or the share of unequal numbers if they are not reals.
  double of(dice::tensor::number type) const {
    if (type == dice::tensor::number::float32) return relative();
    return numbers > 0 ? static_cast<double>(unequal) / static_cast<double>(numbers) : 0;
  }
};

}  // namespace dice::frames
