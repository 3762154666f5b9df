// Rules of operators that compute with all elements of axes [first, last) together, such as Softmax.
#pragma once

#include "dice/graph/operator.hpp"

#include <cstdint>

namespace dice::ops::detail {

/// The region of the input (shape `in`) from which region `out` of the result, which has the input's shape, is computed.
constexpr tensor::region joined_region(const tensor::region& out, int first, int last, const tensor::shape& in) {
  tensor::region r = out;
  for (int a = first; a < last && a < tensor::region::axes; ++a) {
    r.begin[a] = 0;
    r.end[a] = in[a];
  }
  return r;
}

/// Step of cuts along `axis`. Sums that lie side by side along axis `last` stay so if there is another axis behind it;
/// kernels add the elements of a single sum in another order.
constexpr std::int64_t joined_cut_step(int axis, int first, int last, const tensor::shape& result) {
  const bool beside = axis == last && result.product(last + 1, result.rank) > 1;
  return axis < first || beside ? graph::finest_step(axis) : 0;
}

}  // namespace dice::ops::detail
