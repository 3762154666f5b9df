#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

#include <cstdint>

namespace dice::kernels::openmp {

/// Sum of the vectors get(0) to get(n - 1): four partial sums for each 256 vectors, added up at the end of each, so that
/// rounding errors grow more slowly.
template <class Get> vec total(std::int64_t n, const Get& get) {
  vec all{};
  for (std::int64_t k = 0; k < n;) {
    const auto stop = std::min(n, k + 256);
    vec part[4]{};
    for (; k + 4 <= stop; k += 4) {
      DICE_UNROLL
      for (int i = 0; i < 4; ++i) part[i] += get(k + i);
    }
    for (; k < stop; ++k) part[0] += get(k);
    all += (part[0] + part[1]) + (part[2] + part[3]);
  }
  return all;
}

/// Sum of n neighbouring elements.
inline float total(const float* x, std::int64_t n) {
  const vec all = total(n / width, [&](std::int64_t k) { return load(x + k * width); });
  return sum(all + load_first(x + n / width * width, n % width));
}

}  // namespace dice::kernels::openmp
