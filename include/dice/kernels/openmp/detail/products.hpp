// The sums of a register tile, in two forms. By vector: each input is copied to all lanes and multiplied by vectors of
// weights, which is one instruction with a number in memory on x86. By lane, on 64-bit ARM: vectors of weights are
// multiplied by one lane of a vector of inputs. The order of additions is the same.
#pragma once

#include "dice/kernels/detail/epilogue.hpp"
#include "dice/kernels/detail/vector.hpp"
#include "dice/tensor/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace dice::kernels::openmp {

using namespace detail;

inline constexpr int block = static_cast<int>(tensor::block);
/// Vectors per block; the most blocks of output channels that a tile computes at once.
inline constexpr int block_vectors = block / width, tile_blocks = width == block ? 2 : 1;
/// Most pixels of a tile. Their sums fill the registers that the weights' vectors and one input leave free; by lane, those
/// that four vectors of weights and eight of inputs leave, or two if these are of planes.
template <int Lanes>
inline constexpr int tile_pixels = multiplies_by_lane
                                       ? (platform::vector_registers - 4 - (Lanes == 1 ? 2 : 8)) / block_vectors
                                       : (platform::vector_registers - tile_blocks * block_vectors - 1) /
                                             (tile_blocks * block_vectors) / 2 * 2;
/// The pixels are in two segments. There are tiles of every size by lane, and else only of even ones: the segments of an odd
/// number share a pixel.
inline constexpr bool shares_pixels = !multiplies_by_lane;
constexpr std::int64_t first_segment(std::int64_t pixels) { return (pixels + 1) / 2; }
constexpr std::int64_t second_segment(std::int64_t pixels) { return (pixels + shares_pixels) / 2; }

/// Elements by which weights are prefetched: a page, at whose end the hardware prefetcher loses their streams. ResNet-50,
/// most of whose weights come from memory, gains 7 % (Zen 5, one thread; half and four times that distance gained 3 and 4
/// %).
inline constexpr std::ptrdiff_t weights_ahead = 1024;

/// Vectors of channels that depthwise convolutions and Winograd's transforms compute at once: 64-bit ARM loads and stores
/// two with one instruction.
inline constexpr int together = multiplies_by_lane ? 2 : 1, together_lanes = together * width;

/// Loads element i of N for each of the vectors that are computed together, from p + Offset on, or stores it.
template <int Offset = 0, int N> DICE_INLINED inline void load_together(const float* p, vec (&to)[together][N], int i) {
  if constexpr (together == 2) load_pair<Offset>(p, to[0][i], to[together - 1][i]);
  else to[0][i] = load(p + Offset);
}
template <int Offset = 0, int N> DICE_INLINED inline void store_together(float* p, const vec (&from)[together][N], int i) {
  if constexpr (together == 2) store_pair<Offset>(p, from[0][i], from[together - 1][i]);
  else store(p + Offset, from[0][i]);
}

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
  bool fetches = true;               ///< prefetches weights, `weights_ahead` of those that are read
  std::int64_t count = 1;            ///< by lane only: tiles whose pixels follow one another
};

/// f(0), …, f(N - 1), as constants.
template <int N, class F> DICE_INLINED inline void unrolled(const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) DICE_INLINED { (f(std::integral_constant<int, I>()), ...); }
  (std::make_integer_sequence<int, N>{});
}

/// sum += the products of one channel, which lies at p0 and p1 for the first pixel of each segment.
template <int Lanes, int Pixels, int Vectors>
DICE_INLINED inline void add_channel(vec (&sum)[2][Pixels][Vectors], const float* p0, const float* p1, const float* weights,
                                     std::ptrdiff_t depth) {
  vec w[Vectors];
  DICE_UNROLL
  for (int v = 0; v < Vectors; ++v) w[v] = load(weights + v / block_vectors * depth + v % block_vectors * width);
  DICE_UNROLL
  for (int o = 0; o < Vectors / block_vectors; ++o) __builtin_prefetch(weights + o * depth + weights_ahead);
  DICE_UNROLL
  for (int p = 0; p < Pixels; ++p) {
    const vec in = splat(p0[p * Lanes]);
    DICE_UNROLL
    for (int v = 0; v < Vectors; ++v) sum[0][p][v] = fma(in, w[v], sum[0][p][v]);
  }
  DICE_UNROLL
  for (int p = 0; p < Pixels; ++p) {
    const vec in = splat(p1[p * Lanes]);
    DICE_UNROLL
    for (int v = 0; v < Vectors; ++v) sum[1][p][v] = fma(in, w[v], sum[1][p][v]);
  }
}

/// Adds all products to the sums of both segments.
template <int Lanes, int Pixels, int Vectors>
DICE_INLINED inline void add_by_vector(vec (&sum)[2][Pixels][Vectors], const tile_call& c) {
  static_assert(!pins_products || Vectors == 2);
  // From 256 channels on (Zen 4 with AVX2): up to 5 % less time; with fewer, up to 2 % more.
  const bool deep = pins_products && c.in_blocks >= 16;
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
      if constexpr (pins_products && Lanes > 1) {
        if (to - from == Lanes) {
          if (deep && t == 0) {  // the next block's pixels, in another page
            DICE_UNROLL
            for (int p = 0; p < Pixels; ++p) __builtin_prefetch(p0 + c.step + p * Lanes);
            DICE_UNROLL
            for (int p = 0; p < Pixels; ++p) __builtin_prefetch(p1 + c.step + p * Lanes);
          }
          const auto products = [&]<bool Fetches>() DICE_INLINED {
            unrolled<Lanes>([&](auto k) DICE_INLINED {
              vec w[Vectors];
              load_pair<k * block>(weights, w[0], w[1]);
              if (Fetches) prefetch<k * block + weights_ahead>(weights);
              unrolled<2 * Pixels>([&](auto i) DICE_INLINED {
                constexpr int s = i / Pixels, p = i % Pixels;
                const vec in = load_one<p * Lanes + k>(s ? p1 : p0);
                for (int v = 0; v < Vectors; ++v) add_product_of(sum[s][p][v], w[v], in);
              });
            });
          };
          if (c.fetches) products.template operator()<true>();
          else products.template operator()<false>();
          weights += Lanes * block;
          continue;
        }
      }
      // Whole blocks have a loop of their own, with fewer variables, which registers suffice for: 1×1 convolutions of
      // ResNet-50 take 3 % less time (Zen 4, AVX-512).
      if (!pins_products && to - from == Lanes)
        for (int k = 0; k < Lanes; ++k, weights += block) add_channel<Lanes>(sum, p0 + k, p1 + k, weights, depth);
      else
        for (int k = from; k < to; ++k, weights += block) add_channel<Lanes>(sum, p0 + k, p1 + k, weights, depth);
    }
  }
}

}  // namespace dice::kernels::openmp
