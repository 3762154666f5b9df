#include "graph/node_context.hpp"

#include "dice/graph/ops/concat.hpp"

namespace onnx2hpp {

using dice::ops::concat;

template <> struct spelling<concat> {
  static constexpr const char* name = "concat";
  static void write(const concat& op, const concat&, initialiser& out) { out.add("axis", literal(op.axis)); }
};

namespace {

void import(node_context& n) {
  std::vector<int> in;
  for (int k = 0; k < n.inputs(); ++k) in.push_back(n.activation(k));
  n.require(!in.empty(), "it has no input");
  n.require(n.has("axis"), "it has no axis");
  n.result(n.add(concat{.axis = n.axis(n.integer("axis", 1), n.shape_of(in[0]).rank)}, in));
}

const importer known("Concat", import);

}  // namespace
}  // namespace onnx2hpp
