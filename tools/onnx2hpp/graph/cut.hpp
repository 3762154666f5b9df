// Where a model can end so that what is refused is left out.
#pragma once

#include "graph/node_context.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace onnx2hpp {

/// A graph of which some nodes were refused.
struct partial_graph {
  const std::vector<node>& nodes;
  std::vector<std::size_t> order;    ///< the nodes that `outputs` need, each after those that it reads
  std::vector<std::string> outputs;  ///< of the graph
  const std::map<std::string, value>& values;
  const network& net;
};

/// The values at which the graph can end before the nodes `refused` and all nodes behind them: what those read, and the
/// graph outputs that do not depend on them. Empty if only graph inputs are left.
std::vector<std::string> outputs_before(const partial_graph& g, std::set<std::size_t> refused);

/// How much of a graph `outputs` need: nodes that compute no constants, and elements of the weights that these read.
struct kept {
  std::size_t nodes = 0, of_nodes = 0;
  std::int64_t weights = 0, of_weights = 0;

  bool little() const { return of_weights > 0 ? weights < of_weights / 2 : nodes < of_nodes / 2; }
  std::string text() const;
};
kept kept_by(const partial_graph& g, const std::vector<std::string>& outputs);

}  // namespace onnx2hpp
