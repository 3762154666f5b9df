#pragma once

#include "diagnostics.hpp"
#include "read/model.hpp"

#include <vector>

namespace onnx2hpp {

/// Appends a problem for an IR version or an opset of the model that is not read; warns of a newer IR version.
void check_versions(const model& m, const messages& out, std::vector<problem>& problems);

}  // namespace onnx2hpp
