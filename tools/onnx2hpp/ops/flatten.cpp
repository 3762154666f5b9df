#include "graph/node_context.hpp"

#include "dice/graph/ops/flatten.hpp"

namespace onnx2hpp {

using dice::ops::flatten;

namespace {

void import_flatten(node_context& n) {
  const int x = n.moved(0);
  n.result(n.add(flatten{.axis = n.axis(n.integer("axis", 1), n.shape_of(x).rank, true)}, {x}));
}

void fold_flatten(node_context& n) {
  constant c = n.data(0, "input");
  const int axis = n.axis(n.integer("axis", 1), c.rank(), true);
  c.dims = {element_count(std::span(c.dims).first(static_cast<std::size_t>(axis))),
            element_count(std::span(c.dims).subspan(static_cast<std::size_t>(axis)))};
  n.result(std::move(c));
}

const importer known_flatten("Flatten", import_flatten, 1, "axis");
const folder folds_flatten("Flatten", fold_flatten);

}  // namespace
}  // namespace onnx2hpp
