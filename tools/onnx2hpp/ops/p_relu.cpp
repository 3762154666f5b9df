#include "ops/binary.hpp"
#include "ops/functions.hpp"

#include "dice/graph/ops/p_relu.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::p_relu> {
  static constexpr const char* name = "p_relu";
  static void write(const dice::ops::p_relu& op, const dice::ops::p_relu&, initialiser& out) { write_binary(op, out); }
};

namespace {

void import(node_context& n) {
  n.require(!n.is_constant(0), "its input is a constant, and its slope is not");
  if (!n.is_constant(1) || shape_of(n.data(1, "slope")).elements() != 1) return import_binary<dice::ops::p_relu>(n);
  n.result(n.add(leaky_relu_of(static_cast<float>(n.real(1, "slope"))), {n.activation(0)}));
}

const importer known("PRelu", import);

}  // namespace
}  // namespace onnx2hpp
