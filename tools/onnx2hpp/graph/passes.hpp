#pragma once

#include "graph/network.hpp"

namespace onnx2hpp {

/// Joins each BatchNormalization with the convolution before it if it is the only reader of that convolution's output.
void fold_batch_normalization(network& net);

/// Makes one layer of products that are a known function of one layer: x sigmoid(x) becomes Swish, and so on.
void join_functions(network& net);

/// Drops layers that no output depends on, except graph inputs. Returns their number.
int drop_unused(network& net);

}  // namespace onnx2hpp
