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

/// y = x, with another shape.
template <class Op> struct copy_kernel : base<Op> {
  static void compute(const Op&, graph::shapes, const tensor::shape& result, const call& c, const epilogue& e) {
    parallel_elements(tensor::elements(result, c.result), [&](std::int64_t a, std::int64_t b) {
      if (c.output != c.inputs[0]) copy(c.output + a, c.inputs[0] + a, b - a);
      e(c.output + a, b - a);
    });
  }
};

}  // namespace dice::kernels::openmp
