// Tile and Expand: an Expand repeats axes of extent 1.
#include "ops/layers.hpp"

#include "dice/graph/ops/tile.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onnx2hpp {

using dice::ops::tile;

int expand_layer(node_context& n, int x, const shape& to) {
  shape from;
  const shape in = n.shape_of(x);
  for (int a = in.rank; a < to.rank; ++a) from.push_back(1);
  for (int a = 0; a < in.rank; ++a) from.push_back(in[a]);
  if (from != in) x = reshape_layer(n, x, from);
  tile op;
  for (int a = 0; a < to.rank; ++a)
    if (from[a] == 1) op.repeats[a] = to[a];
    else if (from[a] != to[a])
      n.refuse(fmt::format("its input {} cannot be broadcast to the new shape {}", literal(in), literal(to)));
  return from == to ? x : n.add(op, {x});
}

namespace {

/// Broadcasting goes both ways: extents of 1 in the new shape stay what they are.
void import_expand(node_context& n) {
  const int x = n.moved(0);
  const shape in = n.shape_of(x);
  const auto wanted = n.integers(1, "new shape");
  const int rank = std::max(in.rank, static_cast<int>(wanted.size()));
  if (rank > dice::tensor::max_rank) n.refuse("its output has more than 8 axes");
  shape to;
  for (int a = 0; a < rank; ++a) {
    const int own = a - (rank - in.rank), other = a - (rank - static_cast<int>(wanted.size()));
    const std::int64_t extent = own < 0 ? 1 : in[own], asked = other < 0 ? 1 : wanted[other];
    if (asked < 1) n.refuse(fmt::format("its new shape has the extent {}", asked));
    to.push_back(asked == 1 ? extent : asked);
  }
  if (to == in) n.pass();
  else n.result(expand_layer(n, x, to));
}

void import_tile(node_context& n) {
  const int x = n.moved(0);
  const auto repeats = n.integers(1, "repeats");
  n.require(static_cast<int>(repeats.size()) == n.shape_of(x).rank, "it does not have one number of repeats for each axis");
  tile op;
  for (std::size_t a = 0; a < repeats.size(); ++a) op.repeats[a] = n.small(repeats[a], "number of repeats");
  if (op.repeats == tile{}.repeats) n.pass();
  else n.result(n.add(op, {x}));
}

const importer known_tile[] = {{"Expand", import_expand, 8, "", "shape constant; becomes Tile and Reshape"},
                               {"Tile", import_tile, 1, "", "repeats constant"}};

}  // namespace
}  // namespace onnx2hpp
