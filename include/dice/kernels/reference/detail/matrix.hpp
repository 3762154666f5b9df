#pragma once

#include "dice/kernels/reference/detail/base.hpp"

#include <cstdint>

namespace dice::kernels::reference {

/// y[r][n] = Σ_k x[r][k] w[n][k] + bias[n], bias may be null.
inline void multiply(const float* x, const float* w, const float* bias, float* y, std::int64_t rows, std::int64_t columns,
                     std::int64_t depth) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t n = 0; n < columns; ++n) {
      double total = bias ? bias[n] : 0;
      for (std::int64_t k = 0; k < depth; ++k) total += static_cast<double>(x[r * depth + k]) * w[n * depth + k];
      y[r * columns + n] = static_cast<float>(total);
    }
}

}  // namespace dice::kernels::reference
