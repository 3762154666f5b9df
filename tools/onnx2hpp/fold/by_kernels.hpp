#pragma once

#include "graph/node_context.hpp"

namespace onnx2hpp {

/// Computes a node of constants that has an importer and no folder: its layers are a network of their own, which the
/// reference kernels compute in float32. `operations` counts the operations for all nodes of a model; the node that makes
/// them too many is refused.
void compute_by_kernels(node_context& n, const known_operator& known, double& operations);

}  // namespace onnx2hpp
