// Operations that other importers and passes make, too.
#pragma once

#include "graph/operation.hpp"

#include "dice/graph/activation.hpp"
#include "dice/tensor/tensor.hpp"

#include <array>

namespace onnx2hpp {

operation batch_normalization_of();
operation elementwise_of(const dice::graph::activation& function);
operation hard_sigmoid_of(float alpha, float beta);
operation hard_swish_of();
operation leaky_relu_of(float alpha);
operation reshape_of(const dice::tensor::shape& to);
/// Axis a of the result is axis perm[a].
operation transpose_of(const std::array<int, dice::tensor::max_rank>& perm);

}  // namespace onnx2hpp
