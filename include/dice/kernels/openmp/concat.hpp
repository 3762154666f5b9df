#pragma once

#include "dice/kernels/openmp/detail/box.hpp"

#include <cstddef>

namespace dice::kernels {

/// An input that is already at its place in the output is not copied. In blocked tensors, inputs begin at whole blocks.
template <> struct kernel<openmp::backend, ops::concat> : openmp::base<ops::concat> {
  static void compute(const ops::concat& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const openmp::axes to(result, c.result, c.output_pitch);
    openmp::copy_boxes(in.size(), [&](std::size_t k) {
      openmp::box part{.to = c.output, .from = c.inputs[k]};
      for (std::size_t i = 0; i < k; ++i) part.to += openmp::axes(in[i], c.result, 0).extent[op.axis] * to.stride[op.axis];
      const openmp::axes from(in[k], c.result, c.pitch(k));
      for (int a = 0; a < to.extent.rank; ++a) part.push_back(from.extent[a], to.stride[a], from.stride[a]);
      return part;
    });
    openmp::finish(c, to, e);
  }
};

}  // namespace dice::kernels
