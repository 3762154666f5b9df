#pragma once

#include "dice/meta/members.hpp"

#include <string_view>

// Each macro calls the macro X with the names of its functions; those of ops::elementwise also have their ONNX names.
// clang-format off
/// The functions that are operators themselves.
#define DICE_OPERATOR_FUNCTIONS(X) \
  X(relu) X(leaky_relu) X(elu) X(clip) X(sigmoid) X(tanh) X(hard_sigmoid) X(hard_swish)
#define DICE_ELEMENTWISE_FUNCTIONS(X) \
  X(abs, "Abs") X(ceil, "Ceil") X(celu, "Celu") X(erf, "Erf") X(exp, "Exp") X(floor, "Floor") X(gelu, "Gelu") \
  X(gelu_tanh, "Gelu") X(log, "Log") X(mish, "Mish") X(neg, "Neg") X(reciprocal, "Reciprocal") X(round, "Round") \
  X(selu, "Selu") X(sign, "Sign") X(softplus, "Softplus") X(softsign, "Softsign") X(sqrt, "Sqrt") X(swish, "Swish") \
  X(thresholded_relu, "ThresholdedRelu")
// clang-format on
#define DICE_FUNCTIONS(X) DICE_OPERATOR_FUNCTIONS(X) DICE_ELEMENTWISE_FUNCTIONS(X)

namespace dice::graph {

/// A function of one element that kernels can apply to their results, as a value. kernels/activation.hpp has the formulas.
struct activation {
#define DICE_NAMES(name, ...) name,
  enum class kind : unsigned char { none, DICE_FUNCTIONS(DICE_NAMES) };
#undef DICE_NAMES
  kind is = kind::none;
  float a = 0, b = 0;  ///< its attributes, in the operator's order; 0 if unused
  DICE_MEMBERS(is, a, b)

  constexpr explicit operator bool() const { return is != kind::none; }
  friend constexpr bool operator==(const activation& x, const activation& y) {  // CUDA kernels are C++17
    return x.is == y.is && x.a == y.a && x.b == y.b;
  }
};

/// ONNX names of the kinds from `abs` on.
#define DICE_ONNX_NAMES(name, onnx) onnx,
inline constexpr std::string_view elementwise_names[] = {DICE_ELEMENTWISE_FUNCTIONS(DICE_ONNX_NAMES)};
#undef DICE_ONNX_NAMES

}  // namespace dice::graph
