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
inline constexpr int tile_pixels =
    multiplies_by_lane
        ? (platform::vector_registers - 4 - (Lanes == 1 ? 2 : 8)) / block_vectors
        : (platform::vector_registers - tile_blocks * block_vectors - 1) / (tile_blocks * block_vectors) / 2 * 2;
/// The pixels are in two segments. There are tiles of every size by lane, and else only of even ones: the segments of an odd
/// number share a pixel.
inline constexpr bool shares_pixels = !multiplies_by_lane;
constexpr std::int64_t first_segment(std::int64_t pixels) { return (pixels + 1) / 2; }
constexpr std::int64_t second_segment(std::int64_t pixels) { return (pixels + shares_pixels) / 2; }

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
  bool fetches = true;               ///< by lane: prefetches the weights, which the next tiles find in the cache
};

/// f(0), …, f(N - 1), as constants.
template <int N, class F> [[gnu::always_inline]] inline void unrolled(const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, I>()), ...);
  }
  (std::make_integer_sequence<int, N>{});
}

/// Adds all products to the sums of both segments.
template <int Lanes, int Pixels, int Vectors>
[[gnu::always_inline]] inline void add_by_vector(vec (&sum)[2][Pixels][Vectors], const tile_call& c) {
  constexpr int blocks = Vectors / block_vectors;
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
          unrolled<Lanes>([&](auto k) __attribute__((always_inline)) {
            vec w[Vectors];
            load_pair<k * block>(weights, w[0], w[1]);
            prefetch<k * block + weights_ahead>(weights);
            unrolled<2 * Pixels>([&](auto i) __attribute__((always_inline)) {
              constexpr int s = i / Pixels, p = i % Pixels;
              const vec in = load_one<p * Lanes + k>(s ? p1 : p0);
              for (int v = 0; v < Vectors; ++v) add_product_of(sum[s][p][v], w[v], in);
            });
          });
          weights += Lanes * block;
          continue;
        }
      }
      for (int k = from; k < to; ++k, weights += block) {
        vec w[Vectors];
        DICE_UNROLL
        for (int v = 0; v < Vectors; ++v) w[v] = load(weights + v / block_vectors * depth + v % block_vectors * width);
        DICE_UNROLL
        for (int o = 0; o < blocks; ++o) __builtin_prefetch(weights + o * depth + weights_ahead);
        DICE_UNROLL
        for (int p = 0; p < Pixels; ++p) {
          const vec in = splat(p0[p * Lanes + k]);
          DICE_UNROLL
          for (int v = 0; v < Vectors; ++v) sum[0][p][v] = fma(in, w[v], sum[0][p][v]);
        }
        DICE_UNROLL
        for (int p = 0; p < Pixels; ++p) {
          const vec in = splat(p1[p * Lanes + k]);
          DICE_UNROLL
          for (int v = 0; v < Vectors; ++v) sum[1][p][v] = fma(in, w[v], sum[1][p][v]);
        }
      }
    }
  }
}

/// sum += the products of Count input channels, where multiplies_by_lane. Lanes elements apart from p0 and p1 on are the
/// pixels of the segments; from w on, which moves, the weights of a block of output channels.
template <int Count, int Lanes, int Pixels, bool Fetches, int First>
[[gnu::always_inline]] inline void add_channels(vec (&sum)[2][First][block_vectors], const float* p0, const float* p1,
                                                const float*& w) {
  constexpr int second = Pixels - First;
  // What is loaded at once: some channels of a pixel, one channel of a segment that nearly fills a vector, or one number.
  // The vectors of two segments overlap: both lie between the first pixel and the last.
  constexpr bool segments = Lanes == 1 && First == width - 1 && second > 0;
  constexpr int channels = Count < width ? 1 : width;
  // Eight channels of the first segment's pixels, and of the second's if the registers suffice.
  constexpr int halves[2] = {Count >= 2 * width ? 2 : 1, Count >= 2 * width && 2 * Pixels <= 8 ? 2 : 1};
  vec in[2][First][2], weights[4];
  unrolled<Count>([&](auto k) __attribute__((always_inline)) {
    if constexpr (segments) {
      in[0][0][0] = load(p0);
      in[1][0][0] = load(p1 - (width - second));
    } else if constexpr (k % channels == 0) {
      unrolled<Pixels>([&](auto i) __attribute__((always_inline)) {
        constexpr int s = i / First, p = i % First, at = p * Lanes + k;
        const float* from = s ? p1 : p0;
        if constexpr (channels == 1) in[s][p][0] = load_one<at>(from);
        else if constexpr (halves[s] == 1) in[s][p][0] = load_at<at>(from);
        else if constexpr (k % (2 * channels) == 0) load_pair<at>(from, in[s][p][0], in[s][p][1]);
      });
    }
    if constexpr (Fetches) prefetch<weights_ahead>(w);
    static_assert(!multiplies_by_lane || block_vectors == 4);
    load_next(w, weights);
    unrolled<block_vectors>([&](auto v) __attribute__((always_inline)) {
      unrolled<Pixels>([&](auto i) __attribute__((always_inline)) {
        constexpr int s = i / First, p = i % First;
        if constexpr (segments) add_product<p + s*(width - second)>(sum[s][p][v], weights[v % 4], in[s][0][0]);
        else add_product<k % channels>(sum[s][p][v], weights[v % 4], in[s][p][k / width % halves[s]]);
      });
    });
  });
}

/// The same as add_by_vector, where multiplies_by_lane.
template <int Lanes, int Pixels, int First>
[[gnu::always_inline]] inline void add_by_lane(vec (&sum)[2][First][block_vectors], const tile_call& c) {
  const float *x0 = c.in[0], *x1 = c.in[1], *weights = c.weights;
  const auto* const taps = c.taps;
  const auto each_tap = [&](const auto& add) __attribute__((always_inline)) {
    std::ptrdiff_t t = 0;
    if constexpr (Lanes == 1)  // so short that counting takes time
      for (; t + 1 < c.tap_count; t += 2) {
        const auto one = taps[t], two = taps[t + 1];
        add(x0 + one, x1 + one);
        add(x0 + two, x1 + two);
      }
    for (; t < c.tap_count; ++t) add(x0 + taps[t], x1 + taps[t]);
  };
  // Blocks [begin, end) are whole.
  const std::ptrdiff_t begin = Lanes > 1 && c.first > 0, end = c.in_blocks - (Lanes > 1 && c.last < block);
  const auto whole_blocks = [&]<bool Fetches>(std::ptrdiff_t count) __attribute__((always_inline)) {
    const auto next = [&] __attribute__((always_inline)) {
      x0 += c.step;
      x1 += c.step;
      return --count > 0;
    };
    if (Lanes > 1 && c.tap_count == 1) {
      x0 += taps[0];
      x1 += taps[0];
      do {
        if (c.ahead) DICE_UNROLL
        for (int p = 0; p < Pixels; ++p) __builtin_prefetch(x0 + (Pixels + p) * Lanes);
        add_channels<Lanes, Lanes, Pixels, Fetches>(sum, x0, x1, weights);
      } while (next());
      x0 -= taps[0];
      x1 -= taps[0];
    } else {
      do each_tap([&](const float* p0, const float* p1) __attribute__((always_inline)) {
          add_channels<Lanes, Lanes, Pixels, Fetches>(sum, p0, p1, weights);
        });
      while (next());
    }
  };
  for (std::ptrdiff_t b = 0; b < c.in_blocks; ++b) {
    if (b >= begin && b < end) {
      if (Lanes > 1 && c.fetches) whole_blocks.template operator()<true>(end - b);
      else whole_blocks.template operator()<false>(end - b);
      b = end;
      if (b == c.in_blocks) break;
    }
    // No loops, whose bounds the compiler would compute in advance.
    if constexpr (Lanes > 1) {
      const int from = b > 0 ? 0 : c.first, to = b + 1 < c.in_blocks ? block : c.last;
      each_tap([&](const float* p0, const float* p1) __attribute__((always_inline)) {
        p0 += from;
        p1 += from;
        const auto add = [&]<int Count>(std::integral_constant<int, Count>) __attribute__((always_inline)) {
          if (!((to - from) & Count)) return;
          add_channels<Count, Lanes, Pixels, true>(sum, p0, p1, weights);
          p0 += Count;
          p1 += Count;
        };
        add(std::integral_constant<int, 8>());
        add(std::integral_constant<int, 4>());
        add(std::integral_constant<int, 2>());
        add(std::integral_constant<int, 1>());
      });
      x0 += c.step;
      x1 += c.step;
    }
  }
}

}  // namespace dice::kernels::openmp
