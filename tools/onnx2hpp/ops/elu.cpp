#include "graph/node_context.hpp"

#include "dice/graph/ops/elu.hpp"

namespace onnx2hpp {

using dice::ops::elu;

namespace {

void import_elu(node_context& n) {
  elu op;
  op.alpha = n.real("alpha", op.alpha);
  n.result(n.add(op, {n.activation(0)}));
}

const importer known_elu("Elu", import_elu, 1, "alpha");

}  // namespace
}  // namespace onnx2hpp
