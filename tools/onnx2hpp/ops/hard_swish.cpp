#include "graph/node_context.hpp"

#include "dice/graph/ops/hard_swish.hpp"

namespace onnx2hpp {

namespace {

const importer known_hard_swish(
    "HardSwish", [](node_context& n) { n.result(n.add(dice::ops::hard_swish{}, {n.activation(0)})); }, 14, "",
    "also written as x · HardSigmoid(x) with alpha = 1/6, or x · Clip(x + 3, 0, 6) / 6");

}  // namespace
}  // namespace onnx2hpp
