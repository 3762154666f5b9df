// Operations that other importers and passes make, too.
#pragma once

#include "graph/operation.hpp"

#include "dice/graph/activation.hpp"

namespace onnx2hpp {

operation elementwise_of(const dice::graph::activation& function);
operation hard_swish_of();
operation leaky_relu_of(float alpha);

}  // namespace onnx2hpp
