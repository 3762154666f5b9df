#pragma once

#include "dice/kernels/openmp/detail/box.hpp"

#include <cstddef>

namespace dice::kernels {

/// In blocked tensors the channels begin at a block; lanes beyond the last channel may be those of further channels.
template <> struct kernel<openmp::backend, ops::slice> : openmp::base<ops::slice> {
  static void compute(const ops::slice& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto from = openmp::in_memory(in[0], c.result), to = openmp::in_memory(result, c.result);
    openmp::box all{.to = c.output, .from = c.inputs[0]};
    for (int a = 0; a < to.rank; ++a) {
      const auto stride = from.product(a + 1, from.rank);
      const bool blocks = a == 1 && c.result == tensor::layout::blocked, lanes = a == result.rank;
      all.from += (lanes ? 0 : blocks ? op.starts[1] / tensor::block : op.starts[a]) * stride;
      all.push_back(to[a], to.product(a + 1, to.rank), (lanes || blocks ? 1 : op.steps[a]) * stride);
    }
    openmp::copy_boxes(1, [&](std::size_t) { return all; });
    e(c.output, to.elements());
  }
};

}  // namespace dice::kernels
