#include "graph/node_context.hpp"

#include "dice/graph/ops/lrn.hpp"

namespace onnx2hpp {

using dice::ops::lrn;

namespace {

void import_lrn(node_context& n) {
  lrn op;
  op.alpha = n.real("alpha", op.alpha);
  op.beta = n.real("beta", op.beta);
  op.bias = n.real("bias", op.bias);
  n.require(n.has("size"), "it has no size");
  op.size = n.small(n.integer("size", 0), "size");
  n.result(n.add(op, {n.activation(0)}));
}

const importer known_lrn("LRN", import_lrn, 1, "alpha beta bias size");

}  // namespace
}  // namespace onnx2hpp
