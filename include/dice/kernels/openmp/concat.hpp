#pragma once

#include "dice/kernels/openmp/detail/box.hpp"

#include <cstddef>
#include <cstdint>

namespace dice::kernels {

/// An input that is already at its place in the output is not copied. In blocked tensors, inputs begin at whole blocks.
template <> struct kernel<openmp::backend, ops::concat> : openmp::base<ops::concat> {
  static void compute(const ops::concat& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto to = openmp::in_memory(result, c.result);
    openmp::copy_boxes(in.size(), [&](std::size_t k) {
      openmp::box part{.to = c.output, .from = c.inputs[k]};
      for (std::size_t i = 0; i < k; ++i)
        part.to += openmp::in_memory(in[i], c.result)[op.axis] * to.product(op.axis + 1, to.rank);
      const auto from = openmp::in_memory(in[k], c.result);
      for (int a = 0; a < to.rank; ++a) part.push_back(from[a], to.product(a + 1, to.rank), from.product(a + 1, from.rank));
      return part;
    });
    e(c.output, to.elements());
  }
};

}  // namespace dice::kernels
