#pragma once

#include "dice/graph/error.hpp"
#include "dice/tensor/tensor.hpp"

namespace dice::ops::detail {

/// Shape to which a and b broadcast by NumPy's rules (ONNX "Broadcasting", multidirectional). Throws model_error if two
/// extents differ and neither is 1.
constexpr tensor::shape broadcast(const tensor::shape& a, const tensor::shape& b) {
  tensor::shape out = a.rank >= b.rank ? a : b;
  const tensor::shape& low = a.rank >= b.rank ? b : a;
  const int skip = out.rank - low.rank;
  for (int i = 0; i < low.rank; ++i) {
    auto& extent = out[skip + i];
    graph::require(extent == low[i] || extent == 1 || low[i] == 1, "the operands' shapes cannot be broadcast together");
    if (extent == 1) extent = low[i];
  }
  return out;
}

/// Region of an operand of shape `in`, broadcast to `result`, that belongs to region `out`.
constexpr tensor::region input_region(const tensor::region& out, const tensor::shape& in, const tensor::shape& result) {
  tensor::region r = tensor::whole(in);
  const int skip = result.rank - in.rank;
  for (int a = 0; a < in.rank && a < tensor::region::axes; ++a)
    if (in[a] != 1 && a + skip < tensor::region::axes) {
      r.begin[a] = out.begin[a + skip];
      r.end[a] = out.end[a + skip];
    }
  return r;
}

}  // namespace dice::ops::detail
