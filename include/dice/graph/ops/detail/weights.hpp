#pragma once

#include "dice/tensor/tensor.hpp"

namespace dice::ops::detail {

/// Region of a parameter of shape `extents` whose axis 0 belongs to axis `axis` of the result, for the result's region
/// `out`.
constexpr tensor::region outputs(const tensor::region& out, int axis, const tensor::shape& extents) {
  tensor::region r = tensor::whole(extents);
  if (axis < tensor::region::axes) {
    r.begin[0] = out.begin[axis];
    r.end[0] = out.end[axis];
  }
  return r;
}

}  // namespace dice::ops::detail
