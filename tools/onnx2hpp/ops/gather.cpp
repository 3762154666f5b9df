// Gather of an activation by constant indices: a Slice for each run of evenly spaced ones, joined by a Concat, and a Reshape
// if the indices have not one axis. torchvision's pretrained Inception selects its colour channels this way.
#include "ops/layers.hpp"

#include <fmt/format.h>

namespace onnx2hpp {

namespace {

/// The most Slices that a Gather becomes.
constexpr std::size_t most_runs = 64;

void import(node_context& n) {
  const int x = n.moved(0);
  const shape in = n.shape_of(x);
  const constant& indices = n.data(1, "indices");
  const int axis = n.axis(n.integer("axis", 0), in.rank);
  const std::int64_t extent = in[axis];
  auto at = n.integers(1, "indices");
  n.require(!at.empty(), "it has no index");
  for (auto& i : at) {
    if (i < -extent || i >= extent) n.refuse(fmt::format("its index {} is out of range", i));
    if (i < 0) i += extent;
  }
  std::vector<int> runs;
  for (std::size_t i = 0; i < at.size();) {
    const std::int64_t step = i + 1 < at.size() && at[i + 1] != at[i] ? at[i + 1] - at[i] : 1;
    std::size_t end = i + 1;
    while (end < at.size() && at[end] - at[end - 1] == step) ++end;
    if (runs.size() == most_runs)
      n.refuse(fmt::format("its indices are more than {} runs of evenly spaced ones", most_runs));
    runs.push_back(slice_layer(n, x, axis, at[i], static_cast<std::int64_t>(end - i), step));
    i = end;
  }
  const int taken = runs.size() == 1 ? runs[0] : concat_layer(n, runs, axis);
  if (indices.rank() == 1) return n.result(taken);
  if (in.rank - 1 + indices.rank() > dice::tensor::max_rank) n.refuse("its output has more than 8 axes");
  shape to;
  for (int a = 0; a < axis; ++a) to.push_back(in[a]);
  for (const auto d : indices.dims) to.push_back(d);
  for (int a = axis + 1; a < in.rank; ++a) to.push_back(in[a]);
  n.result(reshape_layer(n, taken, to));
}

const importer known("Gather", import, 1, "axis",
                     "indices constant; becomes Slices (at most 64 runs of evenly spaced indices), Concat and Reshape");

}  // namespace
}  // namespace onnx2hpp
