#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

namespace dice::kernels::host {

/// Sum of n neighbouring elements, in four vectors of partial sums.
inline float total(const float* x, std::int64_t n) {
  vec part[4]{};
  std::int64_t i = 0;
  for (; i + 4 * width <= n; i += 4 * width)
    for (int k = 0; k < 4; ++k) part[k] += load(x + i + k * width);
  for (; i + width <= n; i += width) part[0] += load(x + i);
  if (i < n) part[1] += load_first(x + i, n - i);
  return sum((part[0] + part[1]) + (part[2] + part[3]));
}

}  // namespace dice::kernels::host
