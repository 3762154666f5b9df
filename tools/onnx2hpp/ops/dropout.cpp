#include "graph/node_context.hpp"

#include "dice/graph/ops/dropout.hpp"

namespace onnx2hpp {

namespace {

/// Dropout does something only in training, and then only with a ratio other than 0.
void require_inference(node_context& n) {
  n.ignore({"ratio", "seed"});
  n.ignore_input(1);
  if (n.opset() < 12 || !n.given(2) || n.real(2, "training_mode") == 0) return;
  if (n.given(1) && n.real(1, "ratio") == 0) return;
  n.refuse("it drops elements at random (training_mode)", "export the model for inference");
}

void import_dropout(node_context& n) {
  require_inference(n);
  if (n.fold()) n.pass();
  else n.result(n.add(dice::ops::dropout{}, {n.activation(0)}));
}

void fold_dropout(node_context& n) {
  require_inference(n);
  n.pass();
}

const importer known_dropout("Dropout", import_dropout, 1, "ratio<12 seed>=12", "only inference, no mask; removed");
const folder folds_dropout("Dropout", fold_dropout);

}  // namespace
}  // namespace onnx2hpp
