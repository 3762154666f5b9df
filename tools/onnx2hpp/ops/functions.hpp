// Operations that other importers and passes make, too.
#pragma once

#include "graph/operation.hpp"

#include "dice/graph/activation.hpp"
#include "dice/graph/ops/normalization.hpp"
#include "dice/tensor/tensor.hpp"

#include <array>
#include <cstdint>

namespace onnx2hpp {

operation batch_normalization_of();
operation elementwise_of(const dice::graph::activation& function);
operation hard_sigmoid_of(float alpha, float beta);
operation hard_swish_of();
operation leaky_relu_of(float alpha);
operation mat_mul_of(std::int64_t columns, std::int64_t depth, bool bias);
operation normalization_of(const dice::ops::normalization& op);
operation reshape_of(const dice::tensor::shape& to);
/// Axis a of the result is axis perm[a].
operation transpose_of(const std::array<int, dice::tensor::max_rank>& perm);

}  // namespace onnx2hpp
