// Normalizations by statistics of the input. BatchNormalization, which has constant statistics, is another operator.
#include "ops/layers.hpp"

#include "dice/graph/ops/normalization.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onnx2hpp {

using dice::ops::normalization;
using dice::ops::normalizing;
using dice::ops::reduction;
using kind = dice::graph::activation::kind;

namespace {

bool all(const constant& c, double value) {
  return std::ranges::all_of(reals(c), [&](double v) { return v == value; });
}

constant with_dims(constant c, std::vector<std::int64_t> dims) {
  c.dims = std::move(dims);
  return c;
}

/// A layer with the scale and bias that are given and change something.
int add_normalization(node_context& n, int x, normalization op, const constant* scale, const constant* bias) {
  std::vector<parameter> parameters;
  if (scale && !all(*scale, 1)) {
    op.scale = true;
    op.scale_shape = shape_of(*scale);
    parameters.push_back({"scale", *scale, op.scale_shape});
  }
  if (bias && !all(*bias, 0)) {
    op.bias = true;
    op.bias_shape = shape_of(*bias);
    parameters.push_back({"bias", *bias, op.bias_shape});
  }
  return n.add(op, {x}, std::move(parameters));
}

/// Applies the scale and the bias of a layer normalization: constants, or layers that are multiplied and added.
void scaled(node_context& n, int x, normalization op) {
  const constant* scale = n.given(1) && n.is_constant(1) ? &n.data(1, "scale") : nullptr;
  const bool later = n.given(1) && !scale;  // then the bias is added after the multiplication
  const constant* bias = n.given(2) && n.is_constant(2) && !later ? &n.data(2, "bias") : nullptr;
  int y = add_normalization(n, x, op, scale, bias);
  if (later) y = multiply_layers(n, y, n.activation(1));
  if (n.given(2) && !bias) y = n.is_constant(2) ? add_bias(n, y, n.data(2, "bias")) : add_layers(n, y, n.activation(2));
  n.require(n.shape_of(y) == n.shape_of(x), "its scale or bias is larger than its input");
  n.result(y);
}

void require_float_statistics(node_context& n) {
  if (const auto type = n.integer("stash_type", 1); type != 1)
    n.refuse(fmt::format("its statistics have the element type {}; only float32 is supported", type));
}

/// Outputs 1 and 2: the mean, and 1 / sqrt(variance + epsilon). The layers are dropped if nothing reads them.
void statistics(node_context& n, int x, const std::vector<int>& axes, float epsilon) {
  if (n.outputs() < 2) return;
  const int mean = reduce_layer(n, x, reduction::mean, axes, true), rest = subtract_layers(n, x, mean);
  n.result(mean, 1);
  const int variance = reduce_layer(n, multiply_layers(n, rest, rest), reduction::mean, axes, true);
  const double added = epsilon;
  const int above = add_bias(n, variance, make_constant(element::float32, {}, std::span(&added, 1)));
  n.result(function_layer(n, function_layer(n, above, {kind::sqrt}), {kind::reciprocal}), 2);
}

template <normalizing How> void import_layer_normalization(node_context& n) {
  const int x = n.activation(0);
  const shape in = n.shape_of(x);
  require_float_statistics(n);
  normalization op{.how = How, .epsilon = n.real("epsilon", 1e-5f)};
  op.first = n.axis(n.integer("axis", -1), in.rank);
  op.last = in.rank;
  scaled(n, x, op);
  std::vector<int> axes;
  for (int a = op.first; a < in.rank; ++a) axes.push_back(a);
  if (How == normalizing::layer) statistics(n, x, axes, op.epsilon);
}

void import_instance_normalization(node_context& n) {
  const int x = n.activation(0);
  const shape in = n.shape_of(x);
  n.require(in.rank >= 3, "its input has no axes besides N and C");
  const constant &scale = n.data(1, "scale"), &bias = n.data(2, "bias");
  n.require(scale.elements() == in[1] && bias.elements() == in[1],
            "its scale or bias does not have one element for each channel");
  std::vector<std::int64_t> dims(static_cast<std::size_t>(in.rank - 1), 1);
  dims[0] = in[1];
  const auto s = with_dims(scale, dims), b = with_dims(bias, dims);
  n.result(add_normalization(
      n, x, {.how = normalizing::instance, .first = 2, .last = in.rank, .epsilon = n.real("epsilon", 1e-5f)}, &s, &b));
}

/// The channels become two axes: groups, and channels of a group. Scale and bias are for each channel from opset 21 on, for
/// each group before.
void import_group_normalization(node_context& n) {
  const int x = n.activation(0);
  const shape in = n.shape_of(x);
  n.require(in.rank >= 2 && in.rank < dice::tensor::max_rank, "its input does not have 2 to 7 axes");
  require_float_statistics(n);
  const auto groups = n.integer("num_groups", 0);
  n.require(groups > 0 && in[1] % groups == 0, "its channels are not a multiple of num_groups");
  const auto each = n.opset() >= 21 ? in[1] : groups;
  const constant &scale = n.data(1, "scale"), &bias = n.data(2, "bias");
  if (scale.elements() != each || bias.elements() != each)
    n.refuse(fmt::format("its scale or bias does not have {} elements", each));
  shape divided{in[0], groups, in[1] / groups};
  std::vector<std::int64_t> dims{groups, each / groups};
  for (int a = 2; a < in.rank; ++a) {
    divided.push_back(in[a]);
    dims.push_back(1);
  }
  const auto s = with_dims(scale, dims), b = with_dims(bias, dims);
  const int y = add_normalization(
      n, reshape_layer(n, x, divided),
      {.how = normalizing::group, .first = 2, .last = in.rank + 1, .epsilon = n.real("epsilon", 1e-5f)}, &s, &b);
  n.result(reshape_layer(n, y, in));
}

void import_lp_normalization(node_context& n) {
  const int x = n.activation(0), axis = n.axis(n.integer("axis", -1), n.shape_of(x).rank);
  const auto p = n.integer("p", 2);
  if (p != 1 && p != 2) n.refuse(fmt::format("its p is {}; ONNX has 1 and 2", p));
  n.result(add_normalization(n, x, {.how = p == 1 ? normalizing::l1 : normalizing::l2, .first = axis, .last = axis + 1},
                             nullptr, nullptr));
}

/// (x - mean) / sqrt(variance) without an epsilon in the variance: ONNX adds 1e-9 to the deviation.
void import_mean_variance(node_context& n) {
  const int x = n.activation(0), rank = n.shape_of(x).rank;
  std::vector<int> axes;
  for (const auto a : n.integers("axes", {0, 2, 3})) axes.push_back(n.axis(a, rank));
  const int rest = subtract_layers(n, x, reduce_layer(n, x, reduction::mean, axes, true));
  const int variance = reduce_layer(n, multiply_layers(n, rest, rest), reduction::mean, axes, true);
  const double added = 1e-9;
  const int by =
      add_bias(n, function_layer(n, variance, {kind::sqrt}), make_constant(element::float32, {}, std::span(&added, 1)));
  n.result(multiply_layers(n, rest, function_layer(n, by, {kind::reciprocal})));
}

const importer known_normalization[] = {
    {"GroupNormalization", import_group_normalization, 18, "epsilon num_groups stash_type>=21",
     "scale and bias constant; statistics in float32; becomes Reshape, GroupNormalization, Reshape"},
    {"InstanceNormalization", import_instance_normalization, 1, "epsilon", "scale and bias constant"},
    {"LayerNormalization", import_layer_normalization<normalizing::layer>, 17, "axis epsilon stash_type",
     "statistics in float32; a scale or bias that is an activation becomes Mul or Add"},
    {"LpNormalization", import_lp_normalization, 1, "axis p"},
    {"MeanVarianceNormalization", import_mean_variance, 9, "axes", "becomes ReduceMean, Sub, Mul and others"},
    {"RMSNormalization", import_layer_normalization<normalizing::rms>, 23, "axis epsilon stash_type",
     "statistics in float32; a scale that is an activation becomes Mul"}};

}  // namespace
}  // namespace onnx2hpp
