// Mean: a Sum and a Mul.
#include "ops/layers.hpp"

namespace onnx2hpp {

namespace {

void import_mean(node_context& n) { n.result(multiply(n, add_all(n), 1.0 / n.inputs())); }

const importer known_mean("Mean", import_mean, 1, "", "becomes Sum and Mul");

}  // namespace
}  // namespace onnx2hpp
