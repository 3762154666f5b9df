#pragma once

#include "dice/kernels/detail/transpose.hpp"
#include "dice/kernels/openmp/convert.hpp"
#include "dice/kernels/openmp/detail/denormals.hpp"
#include "dice/kernels/openmp/detail/parallel.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::kernels::openmp {

/// Converts a tensor of shape `s` from the other layout to layout To. In a blocked result, lanes beyond the channels are 0.
template <tensor::layout To> void to_layout(const tensor::shape& s, const float* from, float* to) {
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

inline void convert_tensor(const conversion& what, const void* from, void* to) {
  const no_denormals guard;
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<float*>(to);
  if (what.to.layout == tensor::layout::blocked) to_layout<tensor::layout::blocked>(what.of, x, y);
  else to_layout<tensor::layout::plain>(what.of, x, y);
}

#if !defined(DICE_LEVELS) || DICE_LEVELS == 1
DICE_API void convert(const conversion& what, const void* from, void* to) { convert_tensor(what, from, to); }
#endif

}  // namespace dice::kernels::openmp
