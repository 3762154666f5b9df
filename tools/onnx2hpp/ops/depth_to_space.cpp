// DepthToSpace, and SpaceToDepth: a Transpose of six axes between two Reshapes, which move no data.
#include "ops/layers.hpp"

#include "dice/graph/ops/depth_to_space.hpp"

namespace onnx2hpp {
namespace {

std::int64_t block_size(node_context& n, const shape& in) {
  n.require(in.rank == 4, "its input does not have four axes");
  const auto size = n.integer("blocksize", 0);
  n.require(size >= 1, "its blocksize is not positive");
  return n.small(size, "blocksize");
}

std::string mode_of(node_context& n) {
  auto mode = n.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") n.refuse("its mode is " + quote(mode) + "; only DCR and CRD are supported");
  return mode;
}

void import_depth_to_space(node_context& n) {
  const int x = n.moved(0);
  const shape in = n.shape_of(x);
  const auto b = block_size(n, in);
  n.require(in[1] % (b * b) == 0, "its channels are not a multiple of blocksize²");
  const auto mode = mode_of(n);
  const dice::ops::depth_to_space op{
      .factors = {b, b}, .to = {in[2] * b, in[3] * b}, .groups = mode == "DCR" ? 1 : in[1] / (b * b)};
  n.result(n.add(op, {x}));
}

void import_space_to_depth(node_context& n) {
  const int x = n.moved(0);
  const shape in = n.shape_of(x);
  const auto b = block_size(n, in);
  n.require(in[2] % b == 0 && in[3] % b == 0, "its height or width is not a multiple of blocksize");
  const int split = reshape_layer(n, x, {in[0], in[1], in[2] / b, b, in[3] / b, b});
  const auto mode = mode_of(n);
  const int moved = transpose_layer(n, split, mode == "DCR" ? std::vector{0, 3, 5, 1, 2, 4} : std::vector{0, 1, 3, 5, 2, 4});
  n.result(reshape_layer(n, moved, {in[0], in[1] * b * b, in[2] / b, in[3] / b}));
}

const importer known_depth_to_space("DepthToSpace", import_depth_to_space, 1, "blocksize mode>=11"),
    known_space_to_depth("SpaceToDepth", import_space_to_depth, 1, "blocksize mode>=28",
                         "becomes Reshape, Transpose, Reshape");

}  // namespace
}  // namespace onnx2hpp
