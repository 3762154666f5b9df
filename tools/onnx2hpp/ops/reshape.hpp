#pragma once

#include "graph/node_context.hpp"

namespace onnx2hpp {

/// The shape that `in` becomes, for activations and constants alike; each refuses shapes that do not match.
std::vector<std::int64_t> reshaped(node_context& n, const std::vector<std::int64_t>& in);
std::vector<std::int64_t> squeezed(node_context& n, const std::vector<std::int64_t>& in);
std::vector<std::int64_t> unsqueezed(node_context& n, const std::vector<std::int64_t>& in);

}  // namespace onnx2hpp
