#include "ops/layers.hpp"

#include "dice/graph/ops/sum.hpp"

namespace onnx2hpp {

int add_all(node_context& n) {
  std::vector<int> layers, constants;
  for (int k = 0; k < n.inputs(); ++k) (n.is_constant(k) ? constants : layers).push_back(k);
  for (int& k : layers) k = n.activation(k);
  n.require(!layers.empty(), "it has no input");
  int sum = layers.size() == 1 && !constants.empty() ? layers[0] : n.add(dice::ops::sum{}, layers);
  for (int k : constants) sum = add_bias(n, sum, n.data(k, "operand"));
  return sum;
}

namespace {

const importer known_sum(
    "Sum", [](node_context& n) { n.result(add_all(n)); }, 1, "");

}  // namespace
}  // namespace onnx2hpp
