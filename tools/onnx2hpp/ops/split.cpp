// Split: a Slice for each output that is read, and nothing for a single one.
#include "ops/split.hpp"

#include "ops/layers.hpp"

#include <algorithm>

namespace onnx2hpp {

namespace {

std::vector<std::int64_t> stated_parts(node_context& n, std::int64_t extent) {
  const std::int64_t parts = n.integer("num_outputs", n.outputs());
  n.require(parts == n.outputs(), "its attribute num_outputs is not the number of its outputs");
  if (n.opset() >= 13 && n.given(1)) return n.integers(1, "sizes");
  if (auto given = n.integers("split"); !given.empty()) return given;
  n.require(parts > 0, "it has no output");
  // Equal parts, the last one smaller if the extent is not divisible (opset 18).
  const std::int64_t each = (extent + parts - 1) / parts;
  n.require(n.opset() >= 18 || extent % parts == 0, "its input cannot be divided evenly");
  std::vector<std::int64_t> sizes;
  for (std::int64_t k = 0; k < parts; ++k) sizes.push_back(std::max<std::int64_t>(0, std::min(each, extent - k * each)));
  return sizes;
}

}  // namespace

std::vector<std::int64_t> parts_of(node_context& n, std::int64_t extent) {
  auto sizes = stated_parts(n, extent);
  n.require(static_cast<int>(sizes.size()) == n.outputs(), "it does not have as many parts as outputs");
  std::int64_t left = extent;
  for (const auto size : sizes) {
    n.require(size >= 0 && size <= left, "its parts are larger than its input");
    left -= size;
  }
  n.require(left == 0, "its parts are smaller than its input");
  return sizes;
}

namespace {

void import_split(node_context& n) {
  const int x = n.moved(0);
  const shape in = n.shape_of(x);
  const int axis = n.axis(n.integer("axis", 0), in.rank);
  std::int64_t from = 0;
  for (int k = 0; const auto size : parts_of(n, in[axis])) {
    n.require(size > 0, "one of its parts is empty");
    n.result(size == in[axis] ? x : slice_layer(n, x, axis, from, size), k++);
    from += size;
  }
}

const importer known_split("Split", import_split, 1, "axis num_outputs>=18 split<13", "sizes constant; becomes Slices");

}  // namespace
}  // namespace onnx2hpp
