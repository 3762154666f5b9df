// Layers that several importers make. Each returns the index of the new layer.
#pragma once

#include "graph/node_context.hpp"

#include "dice/graph/activation.hpp"
#include "dice/graph/ops/detail/binary.hpp"
#include "dice/graph/ops/reduce.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace onnx2hpp {

/// The sum of all inputs of the node.
int add_all(node_context& n);
/// A sum with a constant, such as a bias that depends on the row.
int add_bias(node_context& n, int x, const constant& c);
int add_layers(node_context& n, int a, int b);
int subtract_layers(node_context& n, int a, int b);
int multiply_layers(node_context& n, int a, int b);
/// x · factor.
int multiply(node_context& n, int x, double factor);
int multiply(node_context& n, int x, const constant& c);
/// x to the power of a number.
int power(node_context& n, int x, double exponent);
/// x, or `otherwise` where that is not NaN.
int replace(node_context& n, int x, const constant& otherwise);
/// x, or a number where x is NaN.
int replace_nan(node_context& n, int x, double otherwise);
/// x, or the nearer limit where it lies beyond; NaN where it is NaN.
int clip_layer(node_context& n, int x, double low, double high);
/// One of the functions of ops::elementwise; the others have layers of their own.
int function_layer(node_context& n, int x, const dice::graph::activation& f);
int tanh_layer(node_context& n, int x);
int softmax_layer(node_context& n, int x, int axis);
int reduce_layer(node_context& n, int x, dice::ops::reduction how, const std::vector<int>& axes, bool keep);
int reshape_layer(node_context& n, int x, const shape& to);
/// The same, or x if it has this shape.
int reshape_unless(node_context& n, int x, const shape& to);
/// Axis a of the result is axis perm[a] of layer x.
int transpose_layer(node_context& n, int x, const std::vector<int>& perm);
/// A Transpose that swaps the axes of a matrix.
int transpose_matrix(node_context& n, int x);
int concat_layer(node_context& n, const std::vector<int>& layers, int axis);
/// `count` elements of an axis from `start` on, `step` apart.
int slice_layer(node_context& n, int x, int axis, std::int64_t start, std::int64_t count, std::int64_t step = 1);
/// Zeros before and after the elements of an axis.
int pad_layer(node_context& n, int x, int axis, std::int64_t before, std::int64_t after);
/// `value` before and after the elements of each axis.
using pad_amounts = std::array<std::int64_t, dice::tensor::max_rank>;
int pad_layer(node_context& n, int x, const pad_amounts& before, const pad_amounts& after, float value);
/// The elements `at` of an axis.
int gather_layer(node_context& n, int x, int axis, const std::vector<std::int64_t>& at);
/// factor · Σ a b by the letters of two terms: each letter of `result` is an axis of a, of b or of both; a letter that the
/// result lacks is summed over.
int einsum_layer(node_context& n, int a, int b, const std::string& terms_a, const std::string& terms_b,
                 const std::string& result, double factor = 1);
/// The same of layer x and a constant, which is operand a (first) or b.
int einsum_layer(node_context& n, int x, const constant& c, dice::ops::constant which, const std::string& terms_x,
                 const std::string& terms_c, const std::string& result);
/// a · b over the last two axes, the others broadcast. ONNX MatMul.
int multiply_matrices(node_context& n, int a, int b);
int multiply_matrices(node_context& n, int x, const constant& c, dice::ops::constant which);
/// x · Wᵀ over the last axis of x, where W (columns of the result, elements of the axis) is w, or w `transposed`.
int multiply_by_matrix(node_context& n, int x, const constant& w, bool transposed);
/// x broadcast to the shape `to`.
int expand_layer(node_context& n, int x, const shape& to);

}  // namespace onnx2hpp
