// What all kernels of the backend begin with: operands and results in the layouts in which the kernel works, converted in
// the scratch where they are stored in others.
#pragma once

#include "dice/cost/openmp.hpp"
#include "dice/kernels/detail/transpose.hpp"
#include "dice/kernels/openmp/detail/parallel.hpp"

#include <algorithm>
#include <array>

namespace dice::kernels::host {

/// Writes a tensor of shape `s` in the other layout: To is that of `to`. Blocked, lanes beyond the channels become 0.
template <tensor::layout To> DICE_SHARED void convert(const tensor::shape& s, const float* from, float* to) {
  constexpr auto block = tensor::block;
  const auto pixels = s.product(2, s.rank), blocks = tensor::blocks(s[1]);
  constexpr auto parts = block / width;
  parallel_for(s[0] * blocks * parts, 2 * pixels, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto image = i / (blocks * parts), first = i % (blocks * parts) * width;  // channel
      const auto there = std::clamp<std::int64_t>(s[1] - first, 0, width);
      const auto plain = (image * s[1] + first) * pixels;
      const auto other = (image * blocks + first / block) * pixels * block + first % block;
      for (std::int64_t x = 0; x < pixels; x += width) {
        const auto n = std::min<std::int64_t>(width, pixels - x);
        vec lines[width];
        if constexpr (To == tensor::layout::blocked) {
          for (int c = 0; c < width; ++c) {
            const float* p = from + plain + c * pixels + x;
            lines[c] = c >= there ? vec{} : n == width ? load(p) : load_first(p, n);
          }
          transpose(lines);
          for (std::int64_t k = 0; k < n; ++k) store(to + other + (x + k) * block, lines[k]);
        } else {
          for (std::int64_t k = 0; k < width; ++k) lines[k] = k < n ? load(from + other + (x + k) * block) : vec{};
          transpose(lines);
          for (std::int64_t c = 0; c < there; ++c) {
            float* p = to + plain + c * pixels + x;
            n == width ? store(p, lines[c]) : store_first(p, lines[c], n);
          }
        }
      }
    }
  });
}

/// Calls f(call, epilogue) with every tensor in the layout in which `c.how` works (cost::algorithm).
struct converted {
  template <class F>
  static void call(graph::shapes in, const tensor::shape& result, const kernels::call& c, const epilogue& e, const F& f) {
    using tensor::layout;
    if (!c.how || !c.how->converts) return f(c, e);
    const auto stored = [&](std::size_t k) { return c.layouts ? c.layouts[k] : layout::plain; };
    std::byte* at = c.scratch + (c.how->scratch_bytes + 63) / 64 * 64;
    // The operand in layout `as`: where it lies, or converted into the scratch.
    const auto held = [&](const float* x, const tensor::shape& s, layout from, layout as) {
      const auto bytes = cost::converted_bytes(s, from, as);
      if (bytes == 0) return x;
      float* to = reinterpret_cast<float*>(at);
      at += bytes;
      as == layout::blocked ? convert<layout::blocked>(s, x, to) : convert<layout::plain>(s, x, to);
      return static_cast<const float*>(to);
    };
    kernels::call own = c;
    epilogue finish = e;
    std::array<const float*, cost::most_converted> inputs;
    for (std::size_t k = 0; k < in.size(); ++k) inputs[k] = held(c.inputs[k], in[k], stored(k), c.how->reads(c.result));
    own.inputs = inputs.data();
    own.result = tensor::has_blocks(result) ? c.how->writes(c.result) : layout::plain;
    if (e.residual) finish.residual = held(e.residual, result, stored(in.size()), own.result);
    tensor::shape output = result;
    if (e.halves) output[2] /= 2, output[3] /= 2;
    const bool elsewhere = cost::converted_bytes(output, c.result, own.result) > 0;
    if (elsewhere) own.output = finish.output = reinterpret_cast<float*>(at);
    f(own, finish);
    if (!elsewhere) return;
    c.result == layout::blocked ? convert<layout::blocked>(output, own.output, c.output)
                                : convert<layout::plain>(output, own.output, c.output);
  }
};

/// `base<Op>` gives a kernel its run() and pack().
template <class Op> using base = thin<kernel<openmp, Op>, true, converted>;

}  // namespace dice::kernels::host
