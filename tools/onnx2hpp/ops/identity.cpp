#include "graph/node_context.hpp"

#include "dice/graph/ops/identity.hpp"

namespace onnx2hpp {

namespace {

void import_identity(node_context& n) {
  if (n.any(0).is == value::kind::sequence) n.result(n.any(0));
  else if (n.fold()) n.pass();
  else n.result(n.add(dice::ops::identity{}, {n.moved(0)}));
}

const importer known_identity("Identity", import_identity, 1, "", "removed");
const folder folds_identity("Identity", [](node_context& n) { n.result(n.any(0)); });

}  // namespace
}  // namespace onnx2hpp
