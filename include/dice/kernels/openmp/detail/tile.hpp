// The register tile of all convolutions: pixels × blocks of output channels, summed over channels and taps of a blocked
// input (or of planes), and finished while they are in registers. The pixels of a segment, the blocks and the distance
// between neighbouring pixels are template parameters, so that no register is spilled and every address is a constant
// offset.
#pragma once

#include "dice/kernels/detail/epilogue.hpp"
#include "dice/kernels/detail/vector.hpp"
#include "dice/tensor/layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace dice::kernels::openmp {

using namespace detail;

inline constexpr int block = static_cast<int>(tensor::block);
/// Vectors per block; the most blocks of output channels that a tile computes at once.
inline constexpr int block_vectors = block / width, tile_blocks = width == block ? 2 : 1;
/// Pixels of a tile, in two segments: their sums fill the registers that the weights' vectors and one input leave free.
inline constexpr int segment =
    (platform::vector_registers - tile_blocks * block_vectors - 1) / (tile_blocks * block_vectors) / 2;
inline constexpr int tile_pixels = 2 * segment;

/// Elements by which weights are prefetched: a page, at whose end the hardware prefetcher loses their streams. ResNet-50,
/// most of whose weights come from memory, gains 7 % (Zen 5, one thread; half and four times that distance gained 3 and 4
/// %).
inline constexpr std::ptrdiff_t weights_ahead = 1024;

struct tile_call {
  const float* in[2];              ///< the first pixel of each segment
  std::ptrdiff_t in_blocks, step;  ///< blocks of input channels (or planes), elements between them
  int first = 0, last = block;     ///< the first lane of the first block, the end of the last block's
  const std::ptrdiff_t* taps;      ///< offsets in elements
  std::ptrdiff_t tap_count;
  const float* weights;              ///< (block, tap, lane, output channel)
  std::ptrdiff_t depth;              ///< elements between the weights of two blocks of output channels
  float* out[2];                     ///< of each segment
  std::ptrdiff_t plane;              ///< elements between blocks of output channels
  const float* bias = nullptr;       ///< initial value of the sums of each output channel; null: 0
  bool resume = false;               ///< the sums begin with what is in the output
  const epilogue* finish = nullptr;  ///< null: the sums are stored as they are
  bool ahead = false;                ///< prefetches the input's next pixels, which nobody has read yet
};

/// Calls f(g), where g applies the activation of `e` to a vector, or returns it unchanged if e(…) must apply it.
template <class F> [[gnu::always_inline]] inline void with_activation(const epilogue& e, const F& f) {
  const auto& b = e.bounds;
  constexpr auto inf = std::numeric_limits<float>::infinity();
  if (!b.exact || (b.slope == 1 && b.low == -inf && b.high == inf)) {
    f([](vec x) __attribute__((always_inline)) { return x; });
  } else if (b.slope == 1 && b.high == inf) {
    const vec low = splat(b.low);
    f([low](vec x) __attribute__((always_inline)) { return maximum(x, low); });
  } else if (b.slope == 1) {
    const vec low = splat(b.low), high = splat(b.high);
    f([ low, high ](vec x) __attribute__((always_inline)) { return minimum(maximum(x, low), high); });
  } else {
    const vec low = splat(b.low), high = splat(b.high), slope = splat(b.slope);
    f([ low, high, slope ](vec x)
          __attribute__((always_inline)) { return minimum(maximum(maximum(x, x * slope), low), high); });
  }
}

/// Finishes pixels that are in the output, bias added, if with_activation() cannot apply the activation.
inline void finish_pixels(const epilogue& e, float* to, int pixels, int lanes) {
  if (e.bounds.exact) return;
  if (lanes == block) e(to, pixels * std::ptrdiff_t{block});  // neighbours
  else e({.to = to, .from = to, .to_stride = block, .from_stride = block, .rows = pixels, .columns = lanes});
}

/// Pixels of the output for a result of `rows` × `columns`.
constexpr std::int64_t output_pixels(std::int64_t rows, std::int64_t columns, const epilogue& e) {
  return e.pools_2x2 ? (rows / 2) * (columns / 2) : rows * columns;
}

template <int Pixels, int Blocks, int Lanes> DICE_SHARED void tile(const tile_call& c) {
  constexpr int vectors = Blocks * block_vectors;
  vec sum[2][Pixels][vectors];
  const auto each = [](const auto& f) __attribute__((always_inline)) {
    DICE_UNROLL
    for (int s = 0; s < 2; ++s) DICE_UNROLL
    for (int p = 0; p < Pixels; ++p) DICE_UNROLL
    for (int v = 0; v < vectors; ++v) f(s, p, v);
  };
  const auto in_plane = [](int p, int v) __attribute__((always_inline)) { return v % block_vectors * width + p * block; };
  const auto offset = [&](int p, int v) __attribute__((always_inline)) {
    return v / block_vectors * c.plane + in_plane(p, v);
  };
  if (c.resume) {
    each([&](int s, int p, int v) __attribute__((always_inline)) { sum[s][p][v] = load(c.out[s] + offset(p, v)); });
  } else if (c.bias) {
    each([&](int s, int p, int v) __attribute__((always_inline)) { sum[s][p][v] = load(c.bias + v * width); });
  } else {
    each([&](int s, int p, int v) __attribute__((always_inline)) { sum[s][p][v] = vec{}; });
  }

  const float *x0 = c.in[0], *x1 = c.in[1], *weights = c.weights;
  const auto depth = c.depth;
  for (std::ptrdiff_t b = 0; b < c.in_blocks; ++b, x0 += c.step, x1 += c.step) {
    const int from = Lanes == 1 || b > 0 ? 0 : c.first, to = Lanes == 1 ? 1 : b + 1 < c.in_blocks ? block : c.last;
    for (std::ptrdiff_t t = 0; t < c.tap_count; ++t) {
      const float *p0 = x0 + c.taps[t], *p1 = x1 + c.taps[t];
      if (Lanes > 1 && c.ahead && t == 0) {
        DICE_UNROLL
        for (int p = 0; p < 2 * Pixels; ++p) __builtin_prefetch(p0 + (2 * Pixels + p) * Lanes);
      }
      for (int k = from; k < to; ++k, weights += block) {
        vec w[vectors];
        DICE_UNROLL
        for (int v = 0; v < vectors; ++v) w[v] = load(weights + v / block_vectors * depth + v % block_vectors * width);
        DICE_UNROLL
        for (int o = 0; o < Blocks; ++o) __builtin_prefetch(weights + o * depth + weights_ahead);
        DICE_UNROLL
        for (int p = 0; p < Pixels; ++p) {
          const vec in = splat(p0[p * Lanes + k]);
          DICE_UNROLL
          for (int v = 0; v < vectors; ++v) sum[0][p][v] = fma(in, w[v], sum[0][p][v]);
        }
        DICE_UNROLL
        for (int p = 0; p < Pixels; ++p) {
          const vec in = splat(p1[p * Lanes + k]);
          DICE_UNROLL
          for (int v = 0; v < vectors; ++v) sum[1][p][v] = fma(in, w[v], sum[1][p][v]);
        }
      }
    }
  }

  if (!c.finish)
    return each([&](int s, int p, int v) __attribute__((always_inline)) { store(c.out[s] + offset(p, v), sum[s][p][v]); });
  const epilogue& e = *c.finish;
  with_activation(
      e, [&](const auto& activation) __attribute__((always_inline)) {
        const bool adds = e.residual && e.bounds.exact;
        const float* residual[2] = {c.out[0], c.out[1]};
        if (adds)
          for (int s = 0; s < 2; ++s) residual[s] = e.residual_at(c.out[s]);
        const auto residual_plane = c.plane + e.residual_skip;
        each([&](int s, int p, int v) __attribute__((always_inline)) {
          vec x = sum[s][p][v];
          if (adds) x += load(residual[s] + v / block_vectors * residual_plane + in_plane(p, v));
          store(c.out[s] + offset(p, v), activation(x));
        });
      });
  if (!e.bounds.exact) {
    // Segments may overlap; the shared pixels must not be finished twice.
    const auto shared = (c.out[0] + Pixels * block - c.out[1]) / block;
    const int again = shared > 0 ? static_cast<int>(shared) : 0;
    for (int b = 0; b < Blocks; ++b) {
      finish_pixels(e, c.out[0] + b * c.plane, Pixels, block);
      finish_pixels(e, c.out[1] + b * c.plane + again * block, Pixels - again, block);
    }
  }
}

using tile_function = void (*)(const tile_call&);

/// The tile of two segments of 1 … `segment` pixels that are Lanes elements apart.
template <int Lanes> tile_function tile_of(std::int64_t pixels, std::int64_t blocks) {
  static constexpr auto table = []<int... P>(std::integer_sequence<int, P...>) {
    return std::array<std::array<tile_function, segment>, 2>{
        {{&tile<P + 1, 1, Lanes>...}, {&tile<P + 1, tile_blocks, Lanes>...}}};
  }
  (std::make_integer_sequence<int, segment>{});
  return table[blocks > 1 ? 1 : 0][pixels - 1];
}

}  // namespace dice::kernels::openmp
