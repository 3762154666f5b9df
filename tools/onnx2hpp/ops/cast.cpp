#include "graph/node_context.hpp"

namespace onnx2hpp {

namespace {

/// Activations are float32, whatever real type the model has: casting one to another does nothing.
void cast_activation(node_context& n, element to) {
  n.activation(0);
  if (!is_real(to)) n.refuse("it turns an activation into " + name_of(to) + "; dice computes in float32");
  n.pass();
}

void cast_constant(node_context& n, element to) {
  const constant& c = n.data(0, "input");
  if (size_of(to) == 0) n.refuse("casting to " + name_of(to) + " is not supported");
  if (is_half(to)) to = element::float32;
  if (to == c.type) return n.result(c);
  // Integers stay exact. A real becomes true unless it is 0: 0.5 is true.
  n.result(is_real(c.type) ? make_constant(to, c.dims, reals(c)) : make_constant(to, c.dims, integers(c)));
}

element stated(node_context& n) {
  n.ignore({"saturate", "round_mode"});  // only for types of 8 bits
  return static_cast<element>(n.integer("to", 0));
}

void import(node_context& n) { cast_activation(n, stated(n)); }
void fold(node_context& n) { cast_constant(n, stated(n)); }

/// CastLike: casts to the type of input 1, of which nothing else is read. PyTorch's dynamo exporter writes it around
/// BatchNormalization if it does not optimise.
void like(node_context& n) {
  n.ignore({"saturate", "round_mode"});  // only for types of 8 bits
  // A real constant like an activation stays what it is: the model may be one of DOUBLE.
  const element own = n.is_constant(0) && is_real(n.data(0, "input").type) ? n.data(0, "input").type : element::float32;
  const element to = n.is_constant(1) ? n.data(1, "target_type").type : (n.activation(1), own);
  n.is_constant(0) ? cast_constant(n, to) : cast_activation(n, to);
}

const importer known[] = {
    {"Cast", import, 1, "round_mode>=24 saturate>=19 to", "activations: only to a real type, which does nothing"},
    {"CastLike", like, 15, "round_mode>=24 saturate>=19", "activations: only to a real type, which does nothing"}};
const folder folds[] = {{"Cast", fold}, {"CastLike", like}};

}  // namespace
}  // namespace onnx2hpp
