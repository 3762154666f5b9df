// The formula of each activation, of one number or of a vector of them. Comparisons are written so that NaN passes.
#pragma once

#include "dice/graph/activation.hpp"
#include "dice/kernels/detail/vector.hpp"

#include <limits>

namespace dice::kernels {

using function = graph::activation::kind;

/// Applies `f`, which is of kind F, to x. T is float or detail::vec.
template <function F, class T> [[gnu::always_inline]] inline T apply(const graph::activation& f, T x) {
  const auto between = [](T y, float from, float to) __attribute__((always_inline)) {
    const T low = from + T{}, high = to + T{};
    const T raised = y < low ? low : y;
    return raised > high ? high : raised;
  };
  if constexpr (F == function::relu) return x < 0.0f ? T{} : x;
  else if constexpr (F == function::leaky_relu) return x < 0.0f ? f.a * x : x;
  else if constexpr (F == function::elu) return x < 0.0f ? f.a * (detail::exp(x) - 1.0f) : x;
  else if constexpr (F == function::clip) return between(x, f.a, f.b);
  else if constexpr (F == function::sigmoid) return 1.0f / (1.0f + detail::exp(-x));
  else if constexpr (F == function::tanh) return detail::tanh(x);
  else if constexpr (F == function::hard_sigmoid) return between(f.a * x + f.b, 0, 1);
  else if constexpr (F == function::hard_swish) return x * between(x * (1.0f / 6.0f) + 0.5f, 0, 1);
  else return x;
}

/// Returns g<F>() for the kind F of `f`.
template <class G> auto with_function(const graph::activation& f, const G& g) {
  switch (f.is) {
    case function::relu:
      return g.template operator()<function::relu>();
    case function::leaky_relu:
      return g.template operator()<function::leaky_relu>();
    case function::elu:
      return g.template operator()<function::elu>();
    case function::clip:
      return g.template operator()<function::clip>();
    case function::sigmoid:
      return g.template operator()<function::sigmoid>();
    case function::tanh:
      return g.template operator()<function::tanh>();
    case function::hard_sigmoid:
      return g.template operator()<function::hard_sigmoid>();
    case function::hard_swish:
      return g.template operator()<function::hard_swish>();
    case function::none:
      break;
  }
  return g.template operator()<function::none>();
}

/// An activation as a slope below 0 and limits: min(max(x, slope · x, low), high) if `exact`.
struct limits {
  bool exact = true;
  float slope = 1;  ///< 0 … 1
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};
constexpr limits limits_of(const graph::activation& f) {
  switch (f.is) {
    case function::none:
      return {};
    case function::relu:
      return {.low = 0};
    case function::clip:
      return {.low = f.a, .high = f.b};
    case function::leaky_relu:
      return {.exact = f.a >= 0 && f.a <= 1, .slope = f.a};
    default:
      return {.exact = false};
  }
}

}  // namespace dice::kernels
