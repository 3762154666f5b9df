#pragma once

#include "dice/graph/operator.hpp"

#include <cstddef>
#include <string_view>

namespace dice::ops {

/// y = f(x) for each element, for the functions without an operator of their own. ONNX Abs, Ceil, Celu (a: alpha), Erf, Exp,
/// Floor, Gelu (gelu_tanh: approximated by tanh), Log, Mish, Neg, Reciprocal, Round (half to
/// even), Selu (a: alpha, b: gamma), Sign, Softplus, Softsign, Sqrt, Swish (a: alpha), ThresholdedRelu (a: alpha).
struct elementwise {
  graph::activation function{graph::activation::kind::abs};
  std::string_view onnx = name_of(function.is);
  DICE_MEMBERS(function)
  static constexpr const char* always_written = member_names;

  constexpr graph::activation activation() const { return function; }
  /// Whether one of the functions has this ONNX name.
  static constexpr bool is_named(std::string_view name) {
    for (const auto known : graph::elementwise_names)
      if (known == name) return true;
    return false;
  }

 private:
  static constexpr std::string_view name_of(graph::activation::kind is) {
    using kind = graph::activation::kind;
    return is < kind::abs ? ""
                          : graph::elementwise_names[static_cast<std::size_t>(is) - static_cast<std::size_t>(kind::abs)];
  }
};

}  // namespace dice::ops
