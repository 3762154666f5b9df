#pragma once

#include "diagnostics.hpp"
#include "read/model.hpp"

#include <string>
#include <vector>

namespace onnx2hpp {

/// Indices of the nodes from which `outputs` are computed, each after those that it reads, otherwise in the model's order.
/// Appends problems: a value computed twice or from itself.
std::vector<std::size_t> order_nodes(const std::vector<node>& nodes, const std::vector<std::string>& outputs,
                                     std::vector<problem>& problems);

/// The values that a node reads, its subgraphs included.
std::vector<std::string> reads(const node& n);

/// The node as it is named in messages.
std::string display_name(const node& n);
/// A problem of node n.
problem problem_of(const node& n, std::string reason, std::string remedy);

}  // namespace onnx2hpp
