#pragma once

#include "graph/network.hpp"

namespace onnx2hpp {

/// Removes Transposes that cancel each other; others move where fewer elements have to be moved.
void cancel_transposes(network& net);

/// Joins a Pad by zeros with the convolutions after it, and a Pad of results of Relu with a MaxPool.
void fold_padding(network& net);

/// Makes one layer of normalizations that are written as several, with the scale and bias that follow.
void join_normalizations(network& net);

/// Makes one layer of products that are a known function of one layer: x sigmoid(x) becomes Swish, and so on.
void join_functions(network& net);

/// Joins with a convolution or MatMul what multiplies each channel of its result by a number and adds a number, if nothing
/// else reads the result: BatchNormalization, Mul, Div, Add and Sub. Elsewhere, a Mul and an Add become a
/// BatchNormalization.
void fold_scales(network& net);

/// Drops layers that no output depends on, except graph inputs. Returns their number.
int drop_unused(network& net);

}  // namespace onnx2hpp
