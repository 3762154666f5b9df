#pragma once

#include "graph/node_context.hpp"

namespace onnx2hpp {

/// Input k, bools computed at run time, as 0 and 1.
int mask_of(node_context& n, int k);
/// Where with a condition that is computed at run time.
void import_where_by_mask(node_context& n);

}  // namespace onnx2hpp
