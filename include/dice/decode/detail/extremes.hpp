// A first look at many scores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace dice::decode::detail {

/// Rounding may make a probability more than 1.
inline constexpr float largest_probability = 1.001f;

/// The smallest and the largest of some numbers, if all of them are finite.
struct extremes {
  float least = std::numeric_limits<float>::infinity(), most = -std::numeric_limits<float>::infinity();
  bool finite = true;
};

/// Whether x is a finite number that is no probability.
inline bool is_logit(float x) {
  return x < 0 ? x >= std::numeric_limits<float>::lowest()
               : x > largest_probability && x <= std::numeric_limits<float>::max();
}

/// Of the n numbers at x.
inline extremes extremes_of(const float* x, std::int64_t n) {
  constexpr int lanes = 8;  // compilers turn them into vectors, but not the comparison of neighbours
  extremes out;
  float least[lanes], most[lanes], zero[lanes]{};
  std::fill_n(least, lanes, out.least);
  std::fill_n(most, lanes, out.most);
  for (; n >= lanes; n -= lanes, x += lanes)
    for (int i = 0; i < lanes; ++i) {
      least[i] = x[i] < least[i] ? x[i] : least[i];
      most[i] = x[i] > most[i] ? x[i] : most[i];
      zero[i] += x[i] - x[i];  // NaN from the first number on that is not finite
    }
  for (int i = 0; i < n; ++i) {
    least[i] = x[i] < least[i] ? x[i] : least[i];
    most[i] = x[i] > most[i] ? x[i] : most[i];
    zero[i] += x[i] - x[i];
  }
  for (int i = 0; i < lanes; ++i) {
    out.least = std::min(out.least, least[i]);
    out.most = std::max(out.most, most[i]);
    out.finite &= zero[i] == 0;
  }
  return out;
}

}  // namespace dice::decode::detail
