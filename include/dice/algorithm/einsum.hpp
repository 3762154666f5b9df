#pragma once

#include "dice/graph/ops/einsum.hpp"

#include <cstdint>

namespace dice::algorithm {

/// How the OpenMP backend computes an Einsum: vectors of results lie along the last axis, and so do those of input `b`, of
/// which there is a copy if its elements are not neighbours there; single elements of input `a` are multiplied with them.
struct einsum {
  int a = 0, b = 1;
  bool vectors = false;  ///< only b has the last axis; else each result is a sum of its own
  bool copies = false;
  int row = -1;  ///< the last of the other axes that only a has: several of its results share the elements of b

  constexpr einsum(const ops::einsum& op, graph::shapes in, const tensor::shape& result) {
    const int last = result.rank - 1;
    if (last < 0) return;
    if (op.stride(1, last, in) == 0) {
      a = 1;
      b = 0;
    }
    vectors = op.stride(a, last, in) == 0 && op.stride(b, last, in) != 0;
    copies = vectors && op.stride(b, last, in) != 1;
    for (int o = 0; vectors && o < last; ++o)
      if (op.stride(b, o, in) == 0 && op.stride(a, o, in) != 0) row = o;
  }
  constexpr std::int64_t scratch_bytes(const ops::einsum& op, graph::shapes in) const {
    return copies ? op.operand(b, in).elements() * tensor::float_bytes : 0;
  }
};

}  // namespace dice::algorithm
