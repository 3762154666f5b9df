#pragma once

#include "read/model.hpp"

#include <vector>

namespace onnx2hpp {

/// The nodes of the model's graph, each call of a model-local function replaced by the function's nodes (recursively).
/// Throws conversion_error for functions that call themselves or grow without limit.
std::vector<node> inline_functions(const model& m);

}  // namespace onnx2hpp
