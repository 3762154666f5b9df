#pragma once

#include "dice/kernels/openmp/detail/box.hpp"

#include <cstddef>

namespace dice::kernels {

/// In blocked tensors the channels begin at a block; lanes beyond the last channel may be those of further channels.
template <> struct kernel<openmp::backend, ops::slice> : openmp::base<ops::slice> {
  static void compute(const ops::slice& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const openmp::axes from(in[0], c.result, c.pitch(0)), to(result, c.result, c.output_pitch);
    openmp::box all{.to = c.output, .from = c.inputs[0]};
    for (int a = 0; a < to.extent.rank; ++a) {
      const bool blocks = a == 1 && c.result == tensor::layout::blocked, lanes = a == result.rank;
      all.from += (lanes ? 0 : blocks ? op.starts[1] / tensor::block : op.starts[a]) * from.stride[a];
      all.push_back(to.extent[a], to.stride[a], (lanes || blocks ? 1 : op.steps[a]) * from.stride[a]);
    }
    openmp::copy_boxes(1, [&](std::size_t) { return all; });
    openmp::finish(c, to, e);
  }
};

}  // namespace dice::kernels
