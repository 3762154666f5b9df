// The formula of each activation operator, of one number or of a vector of them. Comparisons are written so that NaN passes.
#pragma once

#include "dice/kernels/detail/vector.hpp"
#include "dice/model/model.hpp"

namespace dice::kernels {

/// T is float or detail::vec.
template <class T> [[gnu::always_inline]] inline T apply(const graph::nothing&, T x) { return x; }

template <class T> [[gnu::always_inline]] inline T apply(const ops::relu&, T x) { return x < 0.0f ? T{} : x; }

template <class T> [[gnu::always_inline]] inline T apply(const ops::leaky_relu& op, T x) {
  return x < 0.0f ? op.alpha * x : x;
}

template <class T> [[gnu::always_inline]] inline T apply(const ops::elu& op, T x) {
  return x < 0.0f ? op.alpha * (detail::exp(x) - 1.0f) : x;
}

template <class T> [[gnu::always_inline]] inline T apply(const ops::clip& op, T x) {
  const T low = op.low + T{}, high = op.high + T{};
  const T raised = x < low ? low : x;
  return raised > high ? high : raised;
}

template <class T> [[gnu::always_inline]] inline T apply(const ops::sigmoid&, T x) {
  return 1.0f / (1.0f + detail::exp(-x));
}

template <class T> [[gnu::always_inline]] inline T apply(const ops::tanh&, T x) { return detail::tanh(x); }

template <class T> [[gnu::always_inline]] inline T apply(const ops::hard_sigmoid& op, T x) {
  return apply(ops::clip{.low = 0, .high = 1}, op.alpha * x + op.beta);
}

template <class T> [[gnu::always_inline]] inline T apply(const ops::hard_swish&, T x) {
  return x * apply(ops::clip{.low = 0, .high = 1}, x * (1.0f / 6.0f) + 0.5f);
}

/// Whether Op is one of the operators above.
template <class Op>
concept activation = requires(const Op& op, float x) {
  apply(op, x);
};

}  // namespace dice::kernels
