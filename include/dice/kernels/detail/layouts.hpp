#pragma once

#include "dice/kernels/detail/epilogue.hpp"
#include "dice/tensor/layout.hpp"

namespace dice::kernels::detail {

/// One execution of a kernel whose algorithm says in which layouts it works (algorithm::choice); its operands have them.
struct laid_out_execution {
  detail::call call;
  const float* residual = nullptr;

  laid_out_execution(const task& t, const buffers& b) : call(t, b) {
    if (t.residual) residual = call.inputs[t.inputs.size()];
    if (t.how.converts)  // for tensors that are the same in both layouts, the plan may name the other one
      call.result = tensor::has_blocks(t.result) ? t.how.writes(t.output.layout) : tensor::layout::plain;
  }
};

}  // namespace dice::kernels::detail
