#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/kernels/detail/epilogue.hpp"

#include <array>
#include <cstddef>

namespace dice::kernels::detail {

/// One execution with every tensor in the layout in which the task is computed (algorithm::choice). Convert::to(layout,
/// shape, from, to) converts those that are stored in another layout, in the scratch. `written` is the shape of what the
/// group writes: the result's, unless it pools.
template <class Convert> class converted_execution {
 public:
  detail::call call;
  const float* residual = nullptr;

  converted_execution(const task& t, const tensor::shape& written, const buffers& b)
      : call(t, b), written_(written), stored_as_(t.output.layout) {
    using tensor::layout;
    const auto count = t.inputs.size();
    if (t.residual) residual = call.inputs[count];
    if (!t.how.converts) return;
    const auto stored = [&](std::size_t k) { return t.input(k).layout; };
    std::byte* at = b.scratch + (t.how.scratch_bytes + 63) / 64 * 64;
    // The operand in layout `as`: where it lies, or converted into the scratch.
    const auto held = [&](const float* x, const tensor::shape& s, layout from, layout as) {
      const auto bytes = algorithm::converted_bytes(s, from, as);
      if (bytes == 0) return x;
      float* to = reinterpret_cast<float*>(at);
      at += bytes;
      Convert::to(as, s, x, to);
      return static_cast<const float*>(to);
    };
    for (std::size_t k = 0; k < count; ++k)
      inputs_[k] = held(call.inputs[k], t.inputs[k], stored(k), t.how.reads(t.output.layout));
    call.inputs = inputs_.data();
    call.result = tensor::has_blocks(t.result) ? t.how.writes(t.output.layout) : layout::plain;
    if (residual) residual = held(residual, t.result, stored(count), call.result);
    if (algorithm::converted_bytes(written, t.output.layout, call.result) == 0) return;
    stored_ = call.output, call.output = reinterpret_cast<float*>(at);
  }
  converted_execution(const converted_execution&) = delete;
  converted_execution& operator=(const converted_execution&) = delete;

  /// To be called when the output is computed.
  void write_back() {
    if (stored_) Convert::to(stored_as_, written_, call.output, stored_);
  }

 private:
  const tensor::shape written_;
  const tensor::layout stored_as_;
  float* stored_ = nullptr;  ///< where the output is to be written back to, or null
  std::array<const void*, algorithm::max_converted> inputs_;
};

}  // namespace dice::kernels::detail
