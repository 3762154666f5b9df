// Arithmetic on constants. Integers of all types are int64, in two's complement without overflow.
#pragma once

#include "graph/node_context.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace onnx2hpp {

using whole = std::int64_t;

inline whole wrap(std::uint64_t x) { return static_cast<whole>(x); }
inline std::uint64_t bits(whole x) { return static_cast<std::uint64_t>(x); }

inline whole plus(whole a, whole b) { return wrap(bits(a) + bits(b)); }
inline double plus(double a, double b) { return a + b; }
inline whole times(whole a, whole b) { return wrap(bits(a) * bits(b)); }
inline double times(double a, double b) { return a * b; }

/// NaN if one of them is.
inline double larger(double a, double b) { return a > b || std::isnan(a) ? a : b; }
inline double smaller(double a, double b) { return a < b || std::isnan(a) ? a : b; }
inline whole larger(whole a, whole b) { return std::max(a, b); }
inline whole smaller(whole a, whole b) { return std::min(a, b); }

/// Refuses numbers of uint64 that int64 does not hold, for computations that would take them for negative ones.
inline void require_order(const constant& c) {
  if (c.type == element::uint64 && std::ranges::any_of(integers(c), [](whole x) { return x < 0; }))
    node_context::refuse("its constant has integers of 2^63 and more");
}

}  // namespace onnx2hpp
