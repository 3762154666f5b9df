#pragma once

#include <cmath>

namespace conformance {

/// Whether ONNX's own backend tests would accept `found` for `expected`: rtol 1e-3, atol 1e-7, NaN for NaN, infinity for
/// infinity.
inline bool near(double found, double expected) {
  return found == expected || (std::isnan(found) && std::isnan(expected)) ||
         (std::isfinite(expected) && std::abs(found - expected) <= 1e-7 + 1e-3 * std::abs(expected));
}

}  // namespace conformance
