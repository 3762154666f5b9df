#include "node_context.hpp"

#include "dice/model/ops/dropout.hpp"

namespace onnx2hpp {

template <> struct spelling<dice::ops::dropout> {
  static constexpr const char* name = "dropout";
  static void write(const dice::ops::dropout&, const dice::ops::dropout&, initialiser&) {}
};

namespace {

void import(node_context& n) {
  n.ignore({"ratio", "seed"});
  if (n.opset() >= 12 && n.given(2) && n.real(2, "training_mode") != 0)
    n.refuse("it drops elements at random (training_mode)", "export the model for inference");
  if (n.fold())
    n.pass();
  else
    n.result(n.add(dice::ops::dropout{}, {n.activation(0)}));
}

const importer known("Dropout", import);

}  // namespace
}  // namespace onnx2hpp
