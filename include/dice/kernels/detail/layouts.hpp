#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/kernels/detail/epilogue.hpp"

#include <array>
#include <cstddef>

namespace dice::kernels::detail {

/// Calls f(call, residual) with every tensor in the layout in which the task is computed (algorithm::choice), those that are
/// stored in another one in the scratch: convert(layout, shape, from, to) writes them there, and the output back. `output`
/// is the shape of what is written, which is the result's unless the group has pooling.
template <class Convert, class F>
void in_its_layouts(const task& t, const tensor::shape& output, const call& c, const float* residual, const Convert& convert,
                    const F& f) {
  using tensor::layout;
  if (!t.how.converts) return f(c, residual);
  const auto stored = [&](std::size_t k) { return t.layouts.empty() ? layout::plain : t.layouts[k]; };
  std::byte* at = c.scratch + (t.how.scratch_bytes + 63) / 64 * 64;
  // The operand in layout `as`: where it lies, or converted into the scratch.
  const auto held = [&](const float* x, const tensor::shape& s, layout from, layout as) {
    const auto bytes = algorithm::converted_bytes(s, from, as);
    if (bytes == 0) return x;
    float* to = reinterpret_cast<float*>(at);
    at += bytes;
    convert(as, s, x, to);
    return static_cast<const float*>(to);
  };
  const auto count = t.inputs.size();
  std::array<const float*, algorithm::most_converted> inputs;
  for (std::size_t k = 0; k < count; ++k) inputs[k] = held(c.inputs[k], t.inputs[k], stored(k), t.how.reads(t.output));
  call own{c};
  own.inputs = inputs.data();
  own.result = tensor::has_blocks(t.result) ? t.how.writes(t.output) : layout::plain;
  if (residual) residual = held(residual, t.result, stored(count), own.result);
  const bool elsewhere = algorithm::converted_bytes(output, t.output, own.result) > 0;
  if (elsewhere) own.output = reinterpret_cast<float*>(at);
  f(own, residual);
  if (elsewhere) convert(t.output, output, own.output, c.output);
}

}  // namespace dice::kernels::detail
