// How results of convolutions are finished: activations in registers, or afterwards in the output.
#pragma once

#include "dice/kernels/detail/epilogue.hpp"
#include "dice/kernels/detail/vector.hpp"
#include "dice/kernels/openmp/detail/products.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace dice::kernels::openmp {

/// The activation of an epilogue as what vectors are given, or none if e(…) must apply it: found once, used for many tiles.
/// `above` and `none` are only told apart where tiles multiply by lane, whose cores execute fewer instructions at once.
struct finishing {
  enum { none, above, between, sloped } form = between;
  float low, high, slope;

  explicit finishing(const epilogue& e) : low(e.bounds.low), high(e.bounds.high), slope(e.bounds.slope) {
    constexpr auto inf = std::numeric_limits<float>::infinity();
    if (!e.bounds.exact) low = -inf, high = inf, slope = 1;
    if (slope != 1) form = sloped;
    else if (multiplies_by_lane && high == inf) form = low == -inf ? none : above;
  }
};

/// Calls f(g), where g applies `a` to a vector. With as few forms of g as are needed, since f is compiled for each, and most
/// of a kernel's code finishes its results.
template <class F> DICE_INLINED inline void with_activation(const finishing& a, const F& f) {
  if constexpr (multiplies_by_lane) {
    if (a.form == finishing::none) return f([](vec x) DICE_INLINED { return x; });
    if (a.form == finishing::above) {
      const vec low = splat(a.low);
      return f([low](vec x) DICE_INLINED { return maximum(x, low); });
    }
  }
  const vec low = splat(a.low), high = splat(a.high);
  if (a.form == finishing::between) {
    f([low, high](vec x) DICE_INLINED { return minimum(maximum(x, low), high); });
  } else {
    const vec slope = splat(a.slope);
    f([low, high, slope](vec x) DICE_INLINED { return minimum(maximum(maximum(x, x * slope), low), high); });
  }
}
template <class F> DICE_INLINED inline void with_activation(const epilogue& e, const F& f) {
  with_activation(finishing(e), f);
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
