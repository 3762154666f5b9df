#pragma once

#include "dice/kernels/cudnn/detail/base.hpp"

#include <algorithm>

namespace dice::kernels::cudnn {

/// The elements of `in` from which those of a result are copied, axis by axis; initially each axis is copied unchanged.
inline gather gather_of(const tensor::shape& in, const tensor::shape& result, const call& c, const ending& e) {
  gather p{.y = c.output,
           .x = c.inputs[0],
           .n = count(result.elements()),
           .rank = result.rank,
           .extent = {},
           .multiply = {},
           .add = {},
           .divide = {},
           .inside = {},
           .stride = {},
           .outside = beyond::value,
           .value = 0,
           .end = e};
  for (int a = 0; a < result.rank; ++a) {
    p.extent[a] = count(result[a]);
    p.inside[a] = count(in[a]);
    p.stride[a] = count(in.product(a + 1, in.rank));
    p.multiply[a] = p.divide[a] = 1;
  }
  return p;
}

}  // namespace dice::kernels::cudnn
