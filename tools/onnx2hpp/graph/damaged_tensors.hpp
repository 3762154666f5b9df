#pragma once

#include "diagnostics.hpp"
#include "read/model.hpp"

#include <string>
#include <vector>

namespace onnx2hpp {

/// One problem for each file of weights that cannot be used, and for each other damaged tensor that the nodes of `order` or
/// `outputs` need. Throws conversion_error with all of `problems` if a file cannot be used.
void require_tensors(const model& m, const std::vector<node>& nodes, const std::vector<std::size_t>& order,
                     const std::vector<std::string>& outputs, std::vector<problem>& problems);

}  // namespace onnx2hpp
