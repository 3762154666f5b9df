#pragma once

#include "graph/node_context.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace onnx2hpp {

/// What to say if a model computes in another real type than float32: that of an input, of one of the `outputs`, or of what
/// it casts an activation to; and of inputs that hold integers.
std::vector<std::string> precision_notes(const model& m, const std::vector<node>& nodes,
                                         const std::vector<std::string>& outputs,
                                         const std::map<std::string, value>& values);

}  // namespace onnx2hpp
