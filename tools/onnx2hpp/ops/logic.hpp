#pragma once

#include "graph/node_context.hpp"

namespace onnx2hpp {

/// Input k, bools computed at run time, as 0 and 1.
int mask_of(node_context& n, int k);
/// Layer x where `mask` is 1, else the number `otherwise`, whatever x is there.
int where_mask(node_context& n, int mask, int x, double otherwise);
/// Where with a condition that is computed at run time.
void import_where_by_mask(node_context& n);

}  // namespace onnx2hpp
