// What all kernels of the backend start from: operands and results in the layouts in which the kernel works. Those that are
// stored in another layout are converted in the scratch.
#pragma once

#include "dice/algorithm/openmp.hpp"
#include "dice/kernels/detail/layouts.hpp"
#include "dice/kernels/detail/transpose.hpp"
#include "dice/kernels/openmp/detail/denormals.hpp"
#include "dice/kernels/openmp/detail/parallel.hpp"
#include "dice/kernels/openmp/operators.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::kernels::openmp {

/// Converts a tensor of shape `s` from the other layout to layout To. In a blocked result, lanes beyond the channels are 0.
template <tensor::layout To> DICE_SHARED void convert(const tensor::shape& s, const float* from, float* to) {
  using tensor::block;
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

struct conversion {
  static void to(tensor::layout as, const tensor::shape& s, const float* from, float* to) {
    as == tensor::layout::blocked ? convert<tensor::layout::blocked>(s, from, to)
                                  : convert<tensor::layout::plain>(s, from, to);
  }
};

/// One execution as the backend's kernels see it.
struct execution : no_denormals, detail::converted_execution<conversion> {
  epilogue finish;

  execution(const task& t, const buffers& b)
      : converted_execution(t, written_by(t), b), finish(epilogue_of<true>(t.activation)) {
    finish.output = call.output, finish.residual = residual, finish.pools_2x2 = t.pools_2x2;
    if (!residual || !t.has_pitches()) return;
    const auto dense = t.result.product(2, t.result.rank) * (call.result == tensor::layout::blocked ? tensor::block : 1);
    finish.plane = call.output_plane(dense);
    finish.residual_skip = call.plane(t.inputs.size(), dense) - finish.plane;
  }

 private:
  static tensor::shape written_by(const task& t) {
    tensor::shape out = t.result;
    if (t.pools_2x2) out[2] /= 2, out[3] /= 2;
    return out;
  }
};

/// What every kernel of the backend derives from (kernels/kernel.hpp).
template <class Op> struct base {
  using op_type = Op;
  using execution = openmp::execution;
};

}  // namespace dice::kernels::openmp
