#pragma once

#include "convert.hpp"

#include <optional>

namespace onnx2hpp {

/// The shapes of the graph inputs: as declared, as the user fixes them, and a symbolic batch as 1. Inputs that have none
/// are left out and told in `problems`. Throws usage_error if `wish` names inputs or symbols that the model lacks.
std::map<std::string, shape> input_shapes(const model& m, const conversion& wish, const messages& out,
                                          std::vector<problem>& problems);

/// The declared shape of a float32 tensor inside the graph, if all of it is known.
std::optional<shape> declared_shape(const value_info& v, const model& m, const conversion& wish);

}  // namespace onnx2hpp
