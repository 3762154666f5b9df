#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/openmp/detail/box.hpp"

#include <cstdint>

namespace dice::kernels {

/// Copies runs of neighbouring elements. In blocked tensors, the axis is not that of the channels.
template <> struct kernel<openmp::backend, ops::gather> : openmp::base<ops::gather> {
  static void compute(const ops::gather& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const openmp::axes to(result, c.result, 0);
    const auto run = to.stride[op.axis], extent = in[0][op.axis];
    const float* const indices = c.parameters[0];
    openmp::parallel_for(to.extent.product(0, op.axis) * op.count, run, [&](std::int64_t begin, std::int64_t end) {
      auto k = begin % op.count;
      const float* from = c.inputs[0] + begin / op.count * extent * run;
      for (auto i = begin; i < end; ++i) {
        openmp::copy(c.output + i * run, from + detail::element_of(indices[k], extent) * run, run);
        if (++k == op.count) {
          k = 0;
          from += extent * run;
        }
      }
    });
    openmp::finish(c, to, e);
  }
};

}  // namespace dice::kernels
