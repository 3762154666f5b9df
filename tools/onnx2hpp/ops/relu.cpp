#include "graph/node_context.hpp"

#include "dice/graph/ops/relu.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::relu> {
  static constexpr const char* name = "relu";
  static void write(const dice::ops::relu&, const dice::ops::relu&, initialiser&) {}
};

namespace {

const importer known_relu(
    "Relu", [](node_context& n) { n.result(n.add(dice::ops::relu{}, {n.activation(0)})); }, 1, "");

}  // namespace
}  // namespace onnx2hpp
