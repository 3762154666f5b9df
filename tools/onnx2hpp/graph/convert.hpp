#pragma once

#include "diagnostics.hpp"
#include "graph/network.hpp"
#include "read/model.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace onnx2hpp {

struct conversion {
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> inputs{};  ///< shapes of graph inputs that the user fixes
  std::map<std::string, std::int64_t> dimensions{};                         ///< extents of symbols that the user fixes
  std::vector<std::string> outputs{};                                       ///< values to end at; empty: the graph's outputs
  bool fold = true;
};

/// The model as a network: graph inputs first, graph outputs last, the others in the order of their nodes. Throws
/// conversion_error with all problems, usage_error if `settings` names what the model does not have.
network convert(const model& m, const conversion& settings, const messages& out);

}  // namespace onnx2hpp
