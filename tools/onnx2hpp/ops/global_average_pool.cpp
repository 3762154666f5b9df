#include "graph/node_context.hpp"

#include "dice/graph/ops/global_average_pool.hpp"

namespace onnx2hpp {

namespace {

const importer known_global_average_pool(
    "GlobalAveragePool", [](node_context& n) { n.result(n.add(dice::ops::global_average_pool{}, {n.activation(0)})); }, 1,
    "");

}  // namespace
}  // namespace onnx2hpp
