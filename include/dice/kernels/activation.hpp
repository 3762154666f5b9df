// The formula of each activation, of one number or of a vector of them. Comparisons are written so that NaN passes.
#pragma once

#include "dice/graph/activation.hpp"
#include "dice/kernels/detail/vector.hpp"

#include <limits>

namespace dice::kernels {

using function = graph::activation::kind;

/// Applies `f`, which is of kind F, to x. T is float or detail::vec.
template <function F, class T> DICE_INLINED inline T apply(const graph::activation& f, T x) {
  const auto between = [](T y, float from, float to) DICE_INLINED {
    const T low = from + T{}, high = to + T{};
    const T raised = y < low ? low : y;
    return raised > high ? high : raised;
  };
  if constexpr (F == function::relu) return x < 0.0f ? T{} : x;
  else if constexpr (F == function::leaky_relu) return x < 0.0f ? f.a * x : x;
  else if constexpr (F == function::elu) return x < 0.0f ? f.a * (detail::exp(x) - 1.0f) : x;
  else if constexpr (F == function::clip) return between(x, f.a, f.b);
  else if constexpr (F == function::sigmoid) return detail::quotient(T{} + 1.0f, 1.0f + detail::limited_exp(-x));
  else if constexpr (F == function::tanh) return detail::tanh(x);
  else if constexpr (F == function::hard_sigmoid) return between(f.a * x + f.b, 0, 1);
  else if constexpr (F == function::hard_swish) return x * between(x * (1.0f / 6.0f) + 0.5f, 0, 1);
  else if constexpr (F == function::abs) return detail::abs(x);
  else if constexpr (F == function::ceil) return -detail::floor(-x);
  else if constexpr (F == function::celu) return x < 0.0f ? f.a * (detail::exp(x * (1.0f / f.a)) - 1.0f) : x;
  else if constexpr (F == function::erf) return detail::erf(x);
  else if constexpr (F == function::exp) {
    const auto large = x > 88.0f;  // exactly x - 1, and infinity from 88.73 on
    return detail::exp(large ? x - 1.0f : x) * (large ? 2.71828183f + T{} : 1.0f + T{});
  } else if constexpr (F == function::floor) return detail::floor(x);
  else if constexpr (F == function::gelu) return 0.5f * x * (1.0f + detail::erf(x * 0.707106781f));
  else if constexpr (F == function::gelu_tanh)
    return 0.5f * x * (1.0f + detail::tanh(0.797884561f * (x + 0.044715f * x * x * x)));
  else if constexpr (F == function::log) return detail::log(x);
  else if constexpr (F == function::mish) {  // tanh(ln(1 + e)) = e (e + 2) / (e (e + 2) + 2)
    const T e = detail::exp(x > 20.0f ? T{} : x), n = e * (e + 2.0f);
    return x > 20.0f ? x : x * (n / (n + 2.0f));
  } else if constexpr (F == function::neg) return -x;
  else if constexpr (F == function::reciprocal) return 1.0f / x;
  else if constexpr (F == function::round) return detail::round(x);
  else if constexpr (F == function::selu) return f.b * (x < 0.0f ? f.a * (detail::exp(x) - 1.0f) : x);
  else if constexpr (F == function::sign) return x > 0.0f ? 1.0f + T{} : x < 0.0f ? -1.0f + T{} : x;
  else if constexpr (F == function::softplus) {  // for u = 1 + e, ln(1 + e) is ln(u) e / (u - 1), also for small e (Kahan)
    const T e = detail::exp(-detail::abs(x)), u = 1.0f + e;
    const T rest = u == 1.0f ? e : detail::log(u) * (e / (u - 1.0f));
    return x > 0.0f ? x + rest : rest;
  } else if constexpr (F == function::softsign) return x / (1.0f + detail::abs(x));
  else if constexpr (F == function::sqrt) return detail::sqrt(x);
  else if constexpr (F == function::swish) return detail::quotient(x, 1.0f + detail::limited_exp(-f.a * x));
  else if constexpr (F == function::thresholded_relu) return x <= f.a ? T{} : x;
  else {
    static_assert(F == function::none, "a function without a formula");
    return x;
  }
}

/// Returns g<F>() for the kind F of `f`.
template <class G> auto with_function(const graph::activation& f, const G& g) {
  switch (f.is) {
#define DICE_APPLIES(name, ...) \
  case function::name:          \
    return g.template operator()<function::name>();
    DICE_FUNCTIONS(DICE_APPLIES)
#undef DICE_APPLIES
    case function::none:
      break;
  }
  return g.template operator()<function::none>();
}

/// An activation as a slope below 0 and limits: min(max(x, slope · x, low), high) if `exact`.
struct limits {
  bool exact = true;
  float slope = 1;  ///< above 0, at most 1
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
      return {.exact = f.a > 0 && f.a <= 1, .slope = f.a};  // 0 · ∞ is NaN, which max() drops or keeps
    default:
      return {.exact = false};
  }
}

}  // namespace dice::kernels
