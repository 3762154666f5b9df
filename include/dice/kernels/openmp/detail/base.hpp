// What all kernels of the backend begin with: operands and results in the layouts in which the kernel works, converted in
// the scratch where they are stored in others.
#pragma once

#include "dice/algorithm/openmp.hpp"
#include "dice/kernels/detail/layouts.hpp"
#include "dice/kernels/detail/transpose.hpp"
#include "dice/kernels/openmp/detail/parallel.hpp"
#include "dice/kernels/openmp/operators.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::kernels::openmp {

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

/// Calls f(call, epilogue) with every tensor in the layout in which the task is computed (algorithm::choice).
struct converted {
  template <class F> static void call(const task& t, const detail::call& c, const epilogue& e, const F& f) {
    tensor::shape output = t.result;
    if (e.halves) output[2] /= 2, output[3] /= 2;
    const auto convert_to = [](tensor::layout as, const tensor::shape& s, const float* from, float* to) {
      as == tensor::layout::blocked ? convert<tensor::layout::blocked>(s, from, to)
                                    : convert<tensor::layout::plain>(s, from, to);
    };
    in_its_layouts(t, output, c, e.residual, convert_to, [&](const detail::call& own, const float* residual) {
      epilogue finish = e;
      finish.output = own.output, finish.residual = residual;
      f(own, finish);
    });
  }
};

/// `base<Op>` gives a kernel its run().
template <class Op> using base = kernel_entry<kernel<openmp::backend, Op>, Op, true, converted>;

}  // namespace dice::kernels::openmp
