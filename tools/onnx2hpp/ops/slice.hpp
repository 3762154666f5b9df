#pragma once

#include "graph/node_context.hpp"

#include "dice/graph/ops/slice.hpp"

namespace onnx2hpp {

using dice::ops::slice;

/// What a Slice takes of one axis: `count` elements from `start` on, `step` apart.
struct cut {
  std::int64_t start, step, count;
};

/// The node's cuts of a tensor with the extents `in`, one for each axis.
std::vector<cut> read_cuts(node_context& n, const std::vector<std::int64_t>& in);

}  // namespace onnx2hpp
