#include "graph/node_context.hpp"
#include "ops/layers.hpp"

#include "dice/graph/ops/batch_normalization.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace onnx2hpp {

using dice::ops::batch_normalization;

namespace {

/// With spatial = 0 (before opset 9), the statistics have a number for each element of a frame, not for each channel.
/// Whether they do: false if these are also one for each channel, as behind a fully connected layer.
bool is_for_each_element(node_context& n, const shape& in) {
  const shape scale = shape_of(n.data(1, "scale"));
  shape frame;
  for (int a = 1; a < in.rank; ++a) frame.push_back(in[a]);
  const bool same_rank = scale.rank == frame.rank;
  bool by_channel = same_rank && scale[0] == frame[0], by_element = same_rank;
  for (int a = 0; a < scale.rank && same_rank; ++a) {
    by_channel = by_channel && (a == 0 || scale[a] == 1);
    by_element = by_element && (scale[a] == frame[a] || scale[a] == 1);
  }
  if (by_channel) return false;
  if (by_element) return true;
  const bool meant = scale.rank == 1 && scale[0] == in[1];
  n.refuse(
      fmt::format("with its attribute spatial = 0, its statistics need the shape {}, a number for each element; its scale "
                  "is {}{}",
                  literal(frame), literal(scale), meant ? ", a number for each channel, which is spatial = 1" : ""),
      meant ? "remove the attribute spatial, which MXNet's exporter wrote by mistake (docs/own_model.md has "
              "the commands)"
            : "export the model again");
}

void import_batch_normalization(node_context& n) {
  const int x = n.activation(0);
  const shape in = n.shape_of(x);
  n.require(in.rank >= 2, "its input has no channels (axis 1)");
  n.ignore({"momentum"});
  if (n.integer("training_mode", 0) != 0)
    n.refuse("it normalises with the statistics of the batch", "export the model for inference");
  // Before opset 14, further outputs mean training.
  const auto& outputs = n.self().outputs;
  if (n.opset() < 14 && std::any_of(outputs.begin() + 1, outputs.end(), [](const auto& o) { return !o.empty(); }))
    n.refuse("it has training outputs and normalises with the statistics of the batch", "export the model for inference");
  const bool by_element = n.integer("spatial", 1) == 0 && is_for_each_element(n, in);
  const auto dims = by_element ? n.data(1, "scale").dims : std::vector<std::int64_t>{in[1]};
  const auto count = element_count(dims);
  const double epsilon = n.real("epsilon", 1e-5f);
  std::vector<double> statistics[4];
  static constexpr const char* what[] = {"scale", "bias", "mean", "variance"};
  for (int k = 0; k < 4; ++k) {
    statistics[k] = n.reals(k + 1, what[k]);
    n.require(by_element ? n.data(k + 1, what[k]).dims == dims : static_cast<std::int64_t>(statistics[k].size()) == count,
              by_element ? "its statistics differ in shape" : "its statistics do not have one element for each channel");
  }
  // y = (x - mean) / √(variance + ε) · scale + bias = x · a + b
  std::vector<double> a(statistics[0].size()), b(a.size());
  for (std::size_t c = 0; c < a.size(); ++c) {
    a[c] = statistics[0][c] / std::sqrt(statistics[3][c] + epsilon);
    b[c] = statistics[1][c] - statistics[2][c] * a[c];
  }
  if (by_element)
    return n.result(
        add_bias(n, multiply(n, x, make_constant(element::float32, dims, a)), make_constant(element::float32, dims, b)));
  // In double: a convolution before it may absorb them.
  n.result(n.add(batch_normalization{}, {x},
                 {{"scale", make_constant(element::float64, {in[1]}, a), {in[1]}},
                  {"bias", make_constant(element::float64, {in[1]}, b), {in[1]}}}));
}

const importer known_batch_normalization(
    "BatchNormalization", import_batch_normalization, 1, "epsilon momentum spatial<9 training_mode>=14",
    "only inference; scale, bias, mean and variance constant; joins the Conv or MatMul before it; also written as Mul and "
    "Add, which it becomes if spatial = 0 and its statistics have a number for each element");

}  // namespace
}  // namespace onnx2hpp
