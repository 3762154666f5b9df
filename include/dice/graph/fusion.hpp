#pragma once

#include "dice/graph/activation.hpp"

namespace dice::graph {

/// What an operator's output loop can absorb (its epilogue), and whether the operator can be absorbed itself.
struct fusion {
  bool takes_residual = false;    ///< can add a tensor of its own output's shape
  bool takes_activation = false;  ///< can apply an activation to each element
  bool is_residual = false;       ///< sum of two tensors of one shape
  activation function{};          ///< the function of each element that it is, if it is one
  bool rises = false;             ///< `function` never falls: of the largest element it is the largest result
  bool halves = false;            ///< largest of each 2 × 2 elements, by half of the rows and columns
};

}  // namespace dice::graph
