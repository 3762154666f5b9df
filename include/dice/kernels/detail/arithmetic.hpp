#pragma once

#include "dice/graph/arithmetic.hpp"
#include "dice/kernels/detail/vector.hpp"

namespace dice::kernels::detail {

/// A binary operator, of numbers or of vectors. The larger and the smaller are NaN if one of the two is.
template <graph::arithmetic F> struct combined {
  template <class T> T operator()(T a, T b) const {
    using graph::arithmetic;
    if constexpr (F == arithmetic::add) return a + b;
    else if constexpr (F == arithmetic::sub) return a - b;
    else if constexpr (F == arithmetic::mul) return a * b;
    else if constexpr (F == arithmetic::div) return a / b;
    else if constexpr (F == arithmetic::max) return b != b ? b : a < b ? b : a;
    else if constexpr (F == arithmetic::min) return b != b ? b : a > b ? b : a;
    else if constexpr (F == arithmetic::p_relu) return a < 0.0f ? a * b : a;
    else if constexpr (F == arithmetic::pow) return pow(a, b);
    else return b == b ? b : a;
  }
};
using plus = combined<graph::arithmetic::add>;

}  // namespace dice::kernels::detail
