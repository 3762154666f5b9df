#include "ops/layers.hpp"

#include "dice/graph/ops/softmax.hpp"

namespace onnx2hpp {

using dice::ops::softmax;

int softmax_layer(node_context& n, int x, int axis) { return n.add(softmax{.first = axis, .last = axis + 1}, {x}); }

namespace {

template <bool Log> void import_softmax(node_context& n) {
  const int x = n.activation(0), rank = n.shape_of(x).rank;
  softmax op{.log = Log};
  if (n.opset() < 13) {
    // The axes from `axis` on count as one: the input is treated as a matrix.
    op.first = n.axis(n.integer("axis", 1), rank);
    op.last = rank;
  } else {
    op.first = n.axis(n.integer("axis", -1), rank);
    op.last = op.first + 1;
  }
  n.result(n.add(op, {x}));
}

const importer known_softmax[] = {{"LogSoftmax", import_softmax<true>, 1, "axis"},
                                  {"Softmax", import_softmax<false>, 1, "axis"}};

}  // namespace
}  // namespace onnx2hpp
