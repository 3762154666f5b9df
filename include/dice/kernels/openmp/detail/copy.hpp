#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

#include <cstdint>
#include <cstring>

namespace dice::kernels::openmp {

inline void copy(float* to, const float* from, std::int64_t n) {
  std::memmove(to, from, static_cast<std::size_t>(n) * sizeof(float));
}

/// to[i · to_step] = from[i · from_step] for i < n.
inline void copy_row(float* to, std::int64_t to_step, const float* from, std::int64_t from_step, std::int64_t n) {
  if (to_step == 1 && from_step == 1) return copy(to, from, n);
  for (std::int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
}

}  // namespace dice::kernels::openmp
