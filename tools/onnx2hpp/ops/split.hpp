// How Split divides an axis, of activations and of constants.
#pragma once

#include "graph/node_context.hpp"

#include <cstdint>
#include <vector>

namespace onnx2hpp {

/// How many of the `extent` elements each output gets; together all.
std::vector<std::int64_t> parts_of(node_context& n, std::int64_t extent);

}  // namespace onnx2hpp
