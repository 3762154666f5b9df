#pragma once

#include "graph/node_context.hpp"
#include "read/constant.hpp"

namespace onnx2hpp {

/// `c` with permuted axes: axis a of the result is axis perm[a] of `c`.
constant permute(const constant& c, const std::vector<std::size_t>& perm);

}  // namespace onnx2hpp
