#include "ops/layers.hpp"

#include "dice/graph/ops/clip.hpp"

namespace onnx2hpp {

using dice::ops::clip;

int clip_layer(node_context& n, int x, double low, double high) {
  return n.add(clip{.low = static_cast<float>(low), .high = static_cast<float>(high)}, {x});
}

namespace {

void import_clip(node_context& n) {
  clip op;
  if (n.opset() < 11) {
    op.low = n.real("min", op.low);
    op.high = n.real("max", op.high);
  } else {
    if (n.given(1)) op.low = static_cast<float>(n.real(1, "lower bound"));
    if (n.given(2)) op.high = static_cast<float>(n.real(2, "upper bound"));
  }
  n.result(n.add(op, {n.activation(0)}));
}

const importer known_clip("Clip", import_clip, 1, "max<11 min<11", "min and max constant");

}  // namespace
}  // namespace onnx2hpp
