#include "graph/node_context.hpp"

#include "dice/graph/ops/leaky_relu.hpp"

namespace onnx2hpp {

using dice::ops::leaky_relu;

namespace {

void import_leaky_relu(node_context& n) {
  leaky_relu op;
  op.alpha = n.real("alpha", op.alpha);
  n.result(n.add(op, {n.activation(0)}));
}

const importer known_leaky_relu("LeakyRelu", import_leaky_relu, 1, "alpha");

}  // namespace
}  // namespace onnx2hpp
