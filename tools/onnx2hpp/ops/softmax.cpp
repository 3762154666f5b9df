#include "graph/node_context.hpp"

#include "dice/graph/ops/softmax.hpp"

namespace onnx2hpp {

using dice::ops::softmax;

template <> struct spelling<softmax> {
  static constexpr const char* name = "softmax";
  static void write(const softmax& op, const softmax&, initialiser& out) {
    out.add("first", literal(op.first));
    out.add("last", literal(op.last));
  }
};

namespace {

void import(node_context& n) {
  const int x = n.activation(0), rank = n.shape_of(x).rank;
  softmax op;
  if (n.opset() < 13) {
    // The axes from `axis` on count as one: the input is treated as a matrix.
    op.first = n.axis(n.integer("axis", 1), rank, true);
    op.last = rank;
  } else {
    op.first = n.axis(n.integer("axis", -1), rank);
    op.last = op.first + 1;
  }
  n.result(n.add(op, {x}));
}

const importer known("Softmax", import);

}  // namespace
}  // namespace onnx2hpp
