#pragma once

namespace dice::graph {

/// A function of one element that kernels can apply to their results, as a value. kernels/activation.hpp has the formulas.
struct activation {
  enum class kind : unsigned char { none, relu, leaky_relu, elu, clip, sigmoid, tanh, hard_sigmoid, hard_swish };
  kind is = kind::none;
  float a = 0, b = 0;  ///< its attributes, in the operator's order; 0 if unused

  constexpr explicit operator bool() const { return is != kind::none; }
};

}  // namespace dice::graph
