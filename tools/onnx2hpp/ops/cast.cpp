#include "node_context.hpp"

namespace onnx2hpp {

namespace {

/// Activations are float32: casting one to float does nothing.
void import(node_context& n) {
  n.ignore({"saturate"});
  n.activation(0);
  const auto to = static_cast<element>(n.integer("to", 0));
  if (to != element::float32)
    n.refuse("it turns an activation into " + name_of(to) + "; dice computes in float32", "export the model in float32");
  n.pass();
}

void fold(node_context& n) {
  n.ignore({"saturate"});
  const constant& c = n.data(0, "input");
  const auto to = static_cast<element>(n.integer("to", 0));
  if (size_of(to) == 0) n.refuse("casting to " + name_of(to) + " is not supported");
  if (to == c.type) return n.result(c);
  // Integers stay exact; to a truth value from a real: 0.5 is true.
  n.result(is_real(c.type) ? make_constant(to, c.dims, reals(c)) : make_constant(to, c.dims, integers(c)));
}

const importer known("Cast", import);
const folder folds("Cast", fold);

}  // namespace
}  // namespace onnx2hpp
