#pragma once

#include "dice/tensor/tensor.hpp"

namespace dice::ops::detail {

/// Input region of a reshape from `in` to `result` that holds output region `out`: leading axes with equal extents keep
/// their interval, all others are whole.
constexpr tensor::region reshaped(const tensor::region& out, const tensor::shape& in, const tensor::shape& result) {
  tensor::region r = tensor::whole(in);
  for (int a = 0; a < tensor::region::axes && a < in.rank && a < result.rank && in[a] == result[a]; ++a)
    r.begin[a] = out.begin[a], r.end[a] = out.end[a];
  return r;
}

}  // namespace dice::ops::detail
