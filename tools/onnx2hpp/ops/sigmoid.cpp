#include "graph/node_context.hpp"

#include "dice/graph/ops/sigmoid.hpp"

namespace onnx2hpp {

namespace {

const importer known_sigmoid(
    "Sigmoid", [](node_context& n) { n.result(n.add(dice::ops::sigmoid{}, {n.activation(0)})); }, 1, "");

}  // namespace
}  // namespace onnx2hpp
