#include "graph/node_context.hpp"

#include "dice/graph/ops/relu.hpp"

namespace onnx2hpp {

namespace {

const importer known_relu(
    "Relu", [](node_context& n) { n.result(n.add(dice::ops::relu{}, {n.activation(0)})); }, 1, "");

}  // namespace
}  // namespace onnx2hpp
