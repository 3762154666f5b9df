#include "graph/node_context.hpp"
#include "ops/functions.hpp"

#include "dice/graph/ops/leaky_relu.hpp"

namespace onnx2hpp {

using dice::ops::leaky_relu;

template <> struct spelling<leaky_relu> {
  static constexpr const char* name = "leaky_relu";
  static void write(const leaky_relu& op, const leaky_relu& unset, initialiser& out) { out("alpha", op.alpha, unset.alpha); }
};

operation leaky_relu_of(float alpha) { return dice::ops::leaky_relu{.alpha = alpha}; }

namespace {

void import_leaky_relu(node_context& n) {
  leaky_relu op;
  op.alpha = n.real("alpha", op.alpha);
  n.result(n.add(op, {n.activation(0)}));
}

const importer known_leaky_relu("LeakyRelu", import_leaky_relu, 1, "alpha");

}  // namespace
}  // namespace onnx2hpp
