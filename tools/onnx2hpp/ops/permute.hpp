#pragma once

#include "constant.hpp"

namespace onnx2hpp {

/// `c` with axis a of the result being axis perm[a] of it.
constant permute(const constant& c, const std::vector<std::size_t>& perm);

}  // namespace onnx2hpp
