// How results of convolutions are finished: activations in registers, or afterwards in the output.
#pragma once

#include "dice/kernels/detail/epilogue.hpp"
#include "dice/kernels/detail/vector.hpp"
#include "dice/kernels/openmp/detail/products.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace dice::kernels::openmp {

/// Calls f(g), where g applies the activation of `e` to a vector, or returns it unchanged if e(…) must apply it.
/// With two forms of g, since f is compiled for each, and most of a kernel's code finishes its results.
template <class F> [[gnu::always_inline]] inline void with_activation(const epilogue& e, const F& f) {
  const auto& b = e.bounds;
  constexpr auto inf = std::numeric_limits<float>::infinity();
  if (!b.exact || b.slope == 1) {
    const vec low = splat(b.exact ? b.low : -inf), high = splat(b.exact ? b.high : inf);
    f([ low, high ](vec x) __attribute__((always_inline)) { return minimum(maximum(x, low), high); });
  } else {
    const vec low = splat(b.low), high = splat(b.high), slope = splat(b.slope);
    f([ low, high, slope ](vec x)
          __attribute__((always_inline)) { return minimum(maximum(maximum(x, x * slope), low), high); });
  }
}

/// Finishes pixels that are in the output, bias added, if with_activation() cannot apply the activation.
inline void finish_pixels(const epilogue& e, float* to, int pixels, int lanes) {
  if (e.bounds.exact) return;
  if (lanes == block) e(to, pixels * std::ptrdiff_t{block});  // neighbours
  else e({.to = to, .from = to, .to_stride = block, .from_stride = block, .rows = pixels, .columns = lanes});
}

/// Pixels of the output for a result of `rows` × `columns`.
constexpr std::int64_t output_pixels(std::int64_t rows, std::int64_t columns, const epilogue& e) {
  return e.pools_2x2 ? (rows / 2) * (columns / 2) : rows * columns;
}

}  // namespace dice::kernels::openmp
