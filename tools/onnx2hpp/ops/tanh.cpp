#include "ops/layers.hpp"

#include "dice/graph/ops/tanh.hpp"

namespace onnx2hpp {

int tanh_layer(node_context& n, int x) { return n.add(dice::ops::tanh{}, {x}); }

namespace {

const importer known_tanh(
    "Tanh", [](node_context& n) { n.result(tanh_layer(n, n.activation(0))); }, 1, "");

}  // namespace
}  // namespace onnx2hpp
