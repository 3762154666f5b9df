#pragma once

#include <stdexcept>

namespace dice::graph {

/// A shape or attribute that an operator refuses. Thrown by shape rules: an exception in onnx2hpp, a compile error where
/// the rule is evaluated at compile time.
struct model_error : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// Throws model_error with `reason` unless `holds`.
constexpr void require(bool holds, const char* reason) {
  if (!holds) throw model_error(reason);
}

}  // namespace dice::graph
