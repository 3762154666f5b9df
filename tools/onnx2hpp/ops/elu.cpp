#include "graph/node_context.hpp"

#include "dice/graph/ops/elu.hpp"

namespace onnx2hpp {

using dice::ops::elu;

template <> struct spelling<elu> {
  static constexpr const char* name = "elu";
  static void write(const elu& op, const elu& unset, initialiser& out) { out("alpha", op.alpha, unset.alpha); }
};

namespace {

void import_elu(node_context& n) {
  elu op;
  op.alpha = n.real("alpha", op.alpha);
  n.result(n.add(op, {n.activation(0)}));
}

const importer known_elu("Elu", import_elu, 1, "alpha");

}  // namespace
}  // namespace onnx2hpp
