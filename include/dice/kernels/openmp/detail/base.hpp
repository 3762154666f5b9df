// What all kernels of the backend start from.
#pragma once

#include "dice/algorithm/openmp.hpp"
#include "dice/kernels/detail/layouts.hpp"
#include "dice/kernels/openmp/detail/denormals.hpp"
#include "dice/kernels/openmp/detail/parallel.hpp"
#include "dice/kernels/openmp/operators.hpp"

#include <cstdint>

namespace dice::kernels::openmp {

/// One execution as the backend's kernels see it.
struct execution : no_denormals, detail::laid_out_execution {
  epilogue finish;

  execution(const task& t, const buffers& b) : laid_out_execution(t, b), finish(epilogue_of<true>(t.activation)) {
    finish.output = call.output;
    finish.residual = residual;
    finish.pools_2x2 = t.pools_2x2;
    if (!residual || !t.has_pitches()) return;
    const auto dense = t.result.product(2, t.result.rank) * (call.result == tensor::layout::blocked ? tensor::block : 1);
    finish.plane = call.output_plane(dense);
    finish.residual_skip = call.plane(t.inputs.size(), dense) - finish.plane;
  }
};

/// What every kernel of the backend derives from (kernels/kernel.hpp).
template <class Op> struct base {
  using op_type = Op;
  using execution = openmp::execution;
};

}  // namespace dice::kernels::openmp
