#pragma once

#include <algorithm>
#include <cmath>

namespace dice::runtime {

/// How far numbers are from those that are expected.
struct difference {
  double largest = 0;   ///< |a - b|; NaN if a number or a difference is NaN
  double expected = 0;  ///< the largest |b|

  void add(double a, double b) { add({std::abs(a - b), std::abs(b)}); }
  /// That of more numbers.
  void add(const difference& more) {
    if (!(more.largest <= largest) && !std::isnan(largest)) largest = more.largest;
    expected = std::max(expected, more.expected);
  }
  /// max |a - b| / max |b|; max |a - b| if all b are zeros.
  double relative() const { return expected > 0 ? largest / expected : largest; }
};

}  // namespace dice::runtime
