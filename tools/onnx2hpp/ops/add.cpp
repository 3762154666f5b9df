#include "ops/binary.hpp"

#include "dice/graph/ops/add.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::add> {
  static constexpr const char* name = "add";
  static void write(const dice::ops::add& op, const dice::ops::add&, initialiser& out) { write_binary(op, out); }
};

int add_bias(node_context& n, int x, const constant& c) {
  return add_with_constant<dice::ops::add>(n, x, which_constant::second, c);
}

int add_layers(node_context& n, int a, int b) { return n.add(dice::ops::add{}, {a, b}); }

namespace {

const importer known("Add", import_binary<dice::ops::add>);

}  // namespace
}  // namespace onnx2hpp
