#pragma once

#include "graph/node_context.hpp"

#include <initializer_list>
#include <vector>

namespace onnx2hpp {

/// The most elements that a computed constant may have.
inline constexpr std::int64_t folding_limit = std::int64_t{1} << 26;

/// The number of elements of `dims`; refuses the node if it exceeds the limit. `what` says whose extents these are.
std::size_t folded_size(const std::vector<std::int64_t>& dims, const char* what = "it is a constant");

/// NumPy's broadcast of several shapes; refuses incompatible ones.
std::vector<std::int64_t> broadcast(std::initializer_list<std::vector<std::int64_t>> shapes);

/// For each element of a tensor of shape `to`, in row-major order, the index of the source element in a tensor of shape
/// `from`.
std::vector<std::size_t> broadcast_indices(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to);

}  // namespace onnx2hpp
