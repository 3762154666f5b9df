#include "graph/node_context.hpp"

#include "dice/graph/ops/tanh.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::tanh> {
  static constexpr const char* name = "tanh";
  static void write(const dice::ops::tanh&, const dice::ops::tanh&, initialiser&) {}
};

namespace {

const importer known(
    "Tanh", [](node_context& n) { n.result(n.add(dice::ops::tanh{}, {n.activation(0)})); }, 1, "");

}  // namespace
}  // namespace onnx2hpp
