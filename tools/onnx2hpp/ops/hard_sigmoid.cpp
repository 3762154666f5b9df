#include "graph/node_context.hpp"

#include "dice/graph/ops/hard_sigmoid.hpp"

namespace onnx2hpp {

using dice::ops::hard_sigmoid;

namespace {

void import_hard_sigmoid(node_context& n) {
  hard_sigmoid op;
  op.alpha = n.real("alpha", op.alpha);
  op.beta = n.real("beta", op.beta);
  n.result(n.add(op, {n.activation(0)}));
}

const importer known_hard_sigmoid("HardSigmoid", import_hard_sigmoid, 1, "alpha beta",
                                  "also written as Clip(x + 3, 0, 6) / 6");

}  // namespace
}  // namespace onnx2hpp
