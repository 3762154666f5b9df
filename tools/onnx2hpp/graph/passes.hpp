#pragma once

#include "graph/network.hpp"

namespace onnx2hpp {

/// Joins each BatchNormalization with the convolution whose output it alone reads.
void fold_batch_normalization(network& net);

/// Drops layers from which no output is computed; graph inputs stay. Their number.
int drop_unused(network& net);

}  // namespace onnx2hpp
