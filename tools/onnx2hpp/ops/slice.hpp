#pragma once

#include "node_context.hpp"

namespace onnx2hpp {

/// What a Slice takes of one axis: `count` elements from `start` on, `step` apart.
struct cut {
  std::int64_t start, step, count;
};

/// The node's cuts of a tensor with the extents `in`, one for each axis.
std::vector<cut> read_cuts(node_context& n, const std::vector<std::int64_t>& in);

}  // namespace onnx2hpp
