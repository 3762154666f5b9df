#pragma once

#include <string_view>

namespace dice::graph {

/// A function of one element that kernels can apply to their results, as a value. kernels/activation.hpp has the formulas.
struct activation {
  // clang-format off
  enum class kind : unsigned char {
    none, relu, leaky_relu, elu, clip, sigmoid, tanh, hard_sigmoid, hard_swish,
    // Those of ops::elementwise, in the order of elementwise_names:
    abs, ceil, celu, erf, exp, floor, gelu, gelu_tanh, log, mish, neg, reciprocal, round, selu, sign, softplus, softsign,
    sqrt, swish, thresholded_relu
  };
  // clang-format on
  kind is = kind::none;
  float a = 0, b = 0;  ///< its attributes, in the operator's order; 0 if unused

  constexpr explicit operator bool() const { return is != kind::none; }
  friend constexpr bool operator==(const activation& x, const activation& y) {  // CUDA kernels are C++17
    return x.is == y.is && x.a == y.a && x.b == y.b;
  }
};

/// ONNX names of the kinds from `abs` on.
inline constexpr std::string_view elementwise_names[] = {
    "Abs", "Ceil",       "Celu",  "Erf",  "Exp",  "Floor",    "Gelu",     "Gelu", "Log",   "Mish",
    "Neg", "Reciprocal", "Round", "Selu", "Sign", "Softplus", "Softsign", "Sqrt", "Swish", "ThresholdedRelu"};

}  // namespace dice::graph
