#include "ops/binary.hpp"

#include "dice/graph/ops/mul.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::mul> {
  static constexpr const char* name = "mul";
  static void write(const dice::ops::mul& op, const dice::ops::mul&, initialiser& out) { write_binary(op, out); }
};

int multiply(node_context& n, int x, double factor) {
  return add_with_constant<dice::ops::mul>(n, x, which_constant::second,
                                           make_constant(element::float32, {}, std::span(&factor, 1)));
}

int multiply_layers(node_context& n, int a, int b) { return n.add(dice::ops::mul{}, {a, b}); }

namespace {

const importer known("Mul", import_binary<dice::ops::mul>);

}  // namespace
}  // namespace onnx2hpp
