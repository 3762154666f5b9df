#pragma once

#include "dice/graph/operator.hpp"

#include <cstdint>

namespace dice::ops::detail {

/// How a reshape can be cut. The leading axes with equal extents stay what they are. The next axis of the result can join
/// that of the input with axes behind it: (1, C, H, W) to (1, C · H · W). Then each index of the input's axis gives `joined`
/// of the result's.
struct joining {
  int equal = 0;            ///< leading axes with equal extents
  std::int64_t joined = 0;  ///< 0: the next axis is not such an axis, and must stay whole

  constexpr joining(const tensor::shape& in, const tensor::shape& result) {
    while (equal < in.rank && equal < result.rank && in[equal] == result[equal]) ++equal;
    if (equal >= in.rank || equal >= result.rank) return;
    for (int to = equal + 1; to <= in.rank && joined == 0; ++to)
      if (in.product(equal, to) == result[equal]) joined = in.product(equal + 1, to);
  }
};

/// Input region of a reshape from `in` to `result` that holds output region `out`.
constexpr tensor::region reshaped(const tensor::region& out, const tensor::shape& in, const tensor::shape& result) {
  const joining j(in, result);
  tensor::region r = tensor::whole(in);
  for (int a = 0; a < tensor::region::axes && a < j.equal; ++a) {
    r.begin[a] = out.begin[a];
    r.end[a] = out.end[a];
  }
  if (const int a = j.equal; a < tensor::region::axes && j.joined > 0) {
    r.begin[a] = out.begin[a] / j.joined;
    r.end[a] = (out.end[a] - 1) / j.joined + 1;
  }
  return r;
}

/// Steps of a reshape's cuts: those of the input's axis.
constexpr std::int64_t reshape_step(int axis, const tensor::shape& in, const tensor::shape& result) {
  const joining j(in, result);
  return axis < j.equal ? graph::finest_step(axis) : axis == j.equal ? graph::finest_step(axis) * j.joined : 0;
}

/// Throws model_error unless region `out` of the result consists of what its input region holds.
constexpr void require_whole(const tensor::region& out, const tensor::shape& in, const tensor::shape& result) {
  graph::require(tensor::elements(out, result) == tensor::elements(reshaped(out, in, result), in),
                 "a part of a reshape must consist of whole parts of its input");
}

}  // namespace dice::ops::detail
