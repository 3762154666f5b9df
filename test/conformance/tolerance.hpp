#pragma once

#include <cmath>

namespace conformance {

/// Whether ONNX's own backend tests would accept `found` for `expected`: rtol 1e-3, atol 1e-7, NaN for NaN, infinity for
/// infinity. `rounding` is added to rtol.
inline bool near(double found, double expected, double rounding = 0) {
  return found == expected || (std::isnan(found) && std::isnan(expected)) ||
         (std::isfinite(expected) && std::abs(found - expected) <= 1e-7 + (1e-3 + rounding) * std::abs(expected));
}

}  // namespace conformance
