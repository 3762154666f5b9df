#include "graph/node_context.hpp"
#include "ops/functions.hpp"

#include "dice/graph/ops/batch_normalization.hpp"

#include <algorithm>
#include <cmath>

namespace onnx2hpp {

using dice::ops::batch_normalization;

template <> struct spelling<batch_normalization> {
  static constexpr const char* name = "batch_normalization";
  static void write(const batch_normalization&, const batch_normalization&, initialiser&) {}
};

operation batch_normalization_of() { return batch_normalization{}; }

namespace {

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
  if (n.integer("spatial", 1) != 1) n.refuse("it normalises each element by itself (spatial = 0)");
  const double epsilon = n.real("epsilon", 1e-5f);
  std::vector<double> statistics[4];
  static constexpr const char* what[] = {"scale", "bias", "mean", "variance"};
  for (int k = 0; k < 4; ++k) {
    statistics[k] = n.reals(k + 1, what[k]);
    n.require(static_cast<std::int64_t>(statistics[k].size()) == in[1],
              "its statistics do not have one element for each channel");
  }
  // y = (x - mean) / √(variance + ε) · scale + bias = x · a + b
  std::vector<double> a(statistics[0].size()), b(a.size());
  for (std::size_t c = 0; c < a.size(); ++c) {
    a[c] = statistics[0][c] / std::sqrt(statistics[3][c] + epsilon);
    b[c] = statistics[1][c] - statistics[2][c] * a[c];
  }
  // In double: a convolution before it may absorb them.
  n.result(n.add(batch_normalization{}, {x},
                 {{"scale", make_constant(element::float64, {in[1]}, a), {in[1]}},
                  {"bias", make_constant(element::float64, {in[1]}, b), {in[1]}}}));
}

const importer known_batch_normalization(
    "BatchNormalization", import_batch_normalization, 1, "epsilon momentum spatial<9 training_mode>=14",
    "only inference, spatial = 1; scale, bias, mean and variance constant; joins the Conv or MatMul before "
    "it; also written as Mul and Add");

}  // namespace
}  // namespace onnx2hpp
