// Gather of an activation by constant indices that are evenly spaced: a Slice, and a Reshape for a single index without an
// axis. torchvision's pretrained Inception selects its colour channels this way.
#include "ops/reshape.hpp"
#include "ops/slice.hpp"

#include <fmt/format.h>

namespace onnx2hpp {

namespace {

/// Distance of neighbouring indices, all the same; 1 for a single one.
std::int64_t spacing(const std::vector<std::int64_t>& at) {
  const std::int64_t step = at.size() > 1 ? at[1] - at[0] : 1;
  for (std::size_t i = 1; i < at.size(); ++i)
    if (at[i] - at[i - 1] != step || step == 0) node_context::refuse("its indices are not evenly spaced");
  return step;
}

void import(node_context& n) {
  const int x = n.activation(0);
  const shape in = n.shape_of(x);
  const constant& indices = n.data(1, "indices");
  const int axis = n.axis(n.integer("axis", 0), in.rank);
  const std::int64_t extent = in[axis];
  n.require(indices.rank() <= 1, "its indices have more than one axis");
  auto at = n.integers(1, "indices");
  n.require(!at.empty(), "it has no index");
  for (auto& i : at) {
    if (i < -extent || i >= extent) n.refuse(fmt::format("its index {} is out of range", i));
    if (i < 0) i += extent;
  }
  slice op;
  op.extents = in;
  const auto a = static_cast<std::size_t>(axis);
  op.starts[a] = at[0];
  op.steps[a] = spacing(at);
  op.extents[axis] = static_cast<std::int64_t>(at.size());
  const int taken = n.add(op, {x});
  if (indices.rank() == 1) return n.result(taken);
  shape to;
  for (int i = 0; i < in.rank; ++i)
    if (i != axis) to.push_back(in[i]);
  n.result(reshape_layer(n, taken, to));
}

const importer known("Gather", import);

}  // namespace
}  // namespace onnx2hpp
