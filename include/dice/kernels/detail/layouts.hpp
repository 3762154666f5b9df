#pragma once

#include "dice/cost/algorithm.hpp"
#include "dice/kernels/kernel.hpp"

#include <array>
#include <cstddef>

namespace dice::kernels::detail {

/// Calls f(call, residual) with every tensor in the layout in which `c.how` works (cost::algorithm), those that are stored
/// in another one in the scratch: convert(layout, shape, from, to) writes them there, and the output back. `output` is the
/// shape of what is written, which is `result` unless the group has pooling.
template <class Convert, class F>
void in_its_layouts(graph::shapes in, const tensor::shape& result, const tensor::shape& output, const call& c,
                    const float* residual, const Convert& convert, const F& f) {
  using tensor::layout;
  if (!c.how || !c.how->converts) return f(c, residual);
  const auto stored = [&](std::size_t k) { return c.layouts ? c.layouts[k] : layout::plain; };
  std::byte* at = c.scratch + (c.how->scratch_bytes + 63) / 64 * 64;
  // The operand in layout `as`: where it lies, or converted into the scratch.
  const auto held = [&](const float* x, const tensor::shape& s, layout from, layout as) {
    const auto bytes = cost::converted_bytes(s, from, as);
    if (bytes == 0) return x;
    float* to = reinterpret_cast<float*>(at);
    at += bytes;
    convert(as, s, x, to);
    return static_cast<const float*>(to);
  };
  call own = c;
  std::array<const float*, cost::most_converted> inputs;
  for (std::size_t k = 0; k < in.size(); ++k) inputs[k] = held(c.inputs[k], in[k], stored(k), c.how->reads(c.result));
  own.inputs = inputs.data();
  own.result = tensor::has_blocks(result) ? c.how->writes(c.result) : layout::plain;
  if (residual) residual = held(residual, result, stored(in.size()), own.result);
  const bool elsewhere = cost::converted_bytes(output, c.result, own.result) > 0;
  if (elsewhere) own.output = reinterpret_cast<float*>(at);
  f(own, residual);
  if (elsewhere) convert(c.result, output, own.output, c.output);
}

}  // namespace dice::kernels::detail
