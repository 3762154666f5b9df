#include "ops/layers.hpp"

#include "dice/graph/ops/tanh.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::tanh> {
  static constexpr const char* name = "tanh";
  static void write(const dice::ops::tanh&, const dice::ops::tanh&, initialiser&) {}
};

int tanh_layer(node_context& n, int x) { return n.add(dice::ops::tanh{}, {x}); }

namespace {

const importer known_tanh(
    "Tanh", [](node_context& n) { n.result(tanh_layer(n, n.activation(0))); }, 1, "");

}  // namespace
}  // namespace onnx2hpp
