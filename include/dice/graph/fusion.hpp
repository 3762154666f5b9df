#pragma once

#include "dice/graph/activation.hpp"

namespace dice::graph {

/// What an operator's output loop can absorb (its epilogue), and whether the operator can be absorbed itself.
struct fusion {
  bool takes_residual = false;    ///< can add a tensor of its own output's shape
  bool takes_activation = false;  ///< can apply an activation to each element
  bool is_residual = false;       ///< sum of two tensors of one shape
  activation function{};          ///< the elementwise function that the operator is, if it is one
  bool monotonic = false;         ///< `function` never decreases, so the largest element has the largest result
  bool pools_2x2 = false;         ///< maximum of each 2 × 2 elements; halves rows and columns
};

}  // namespace dice::graph
