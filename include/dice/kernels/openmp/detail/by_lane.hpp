// Register tiles where vectors of weights are multiplied by one lane of a vector of inputs: on 64-bit ARM. The order of
// additions is that of tiles by vector.
#pragma once

#include "dice/kernels/detail/epilogue.hpp"
#include "dice/kernels/detail/vector.hpp"
#include "dice/kernels/openmp/detail/finish.hpp"
#include "dice/kernels/openmp/detail/products.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace dice::kernels::openmp {

/// Whether each segment is read as one vector: there are two, and three pixels of a plane nearly fill one. The second ends
/// with its segment; both lie between the tile's first pixel and its last.
template <int Lanes, int Pixels, int First>
inline constexpr bool reads_segments = Lanes == 1 && First == width - 1 && Pixels > First;

/// sum += the products of Count input channels. Lanes elements apart from p0 and p1 on are the
/// pixels of the segments; from w on, which moves, the weights of a block of output channels.
template <int Count, int Lanes, int Pixels, bool Fetches, int First>
DICE_INLINED inline void add_channels(vec (&sum)[2][First][block_vectors], const float* p0, const float* p1,
                                      const float*& w) {
  constexpr int second = Pixels - First;
  // What is loaded at once: some channels of a pixel, one channel of a segment that nearly fills a vector, or one number.
  // The vectors of two segments overlap: both lie between the first pixel and the last.
  constexpr bool segments = reads_segments<Lanes, Pixels, First>;
  constexpr int channels = Count < width ? 1 : width;
  // Eight channels of the first segment's pixels, and of the second's if the registers suffice.
  constexpr int halves[2] = {Count >= 2 * width ? 2 : 1, Count >= 2 * width && 2 * Pixels <= 8 ? 2 : 1};
  vec in[2][First][2], weights[4];
  unrolled<Count>([&](auto k) DICE_INLINED {
    if constexpr (segments) {
      in[0][0][0] = load(p0);
      in[1][0][0] = load(p1);
    } else if constexpr (k % channels == 0) {
      unrolled<Pixels>([&](auto i) DICE_INLINED {
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
    unrolled<block_vectors>([&](auto v) DICE_INLINED {
      unrolled<Pixels>([&](auto i) DICE_INLINED {
        constexpr int s = i / First, p = i % First;
        if constexpr (segments) add_product<p + s*(width - second)>(sum[s][p][v], weights[v % 4], in[s][0][0]);
        else add_product<k % channels>(sum[s][p][v], weights[v % 4], in[s][p][k / width % halves[s]]);
      });
    });
  });
}

/// Adds all products to the sums of both segments, whose first pixels are at x0 and x1.
template <int Lanes, int Pixels, int First>
DICE_INLINED inline void add_by_lane(vec (&sum)[2][First][block_vectors], const tile_call& c, const float* x0,
                                     const float* x1, std::ptrdiff_t first_tap, bool fetches) {
  const float* weights = c.weights;
  const auto* const taps = c.taps;
  // From a plane's first segment to what is read of its second.
  const std::ptrdiff_t apart =
      Lanes > 1 ? 0 : x1 - x0 - (reads_segments<Lanes, Pixels, First> ? width - (Pixels - First) : 0);
  const auto each_tap = [&](const auto& add) DICE_INLINED {
    std::ptrdiff_t t = 0;
    if constexpr (Lanes == 1) {  // so short that counting takes time
      const auto add_tap = [&](std::ptrdiff_t tap) DICE_INLINED {
        const float* p = x0 + tap;
        asm("" : "+r"(p));  // GCC would compute the other address from `tap`, too
        add(p, p + apart);
      };
      for (; t + 1 < c.tap_count; t += 2) {
        const auto one = taps[t], two = taps[t + 1];
        add_tap(one);
        add_tap(two);
      }
      if (t < c.tap_count) add_tap(taps[t]);
    } else {
      do add(x0 + taps[t], x1 + taps[t]);
      while (++t < c.tap_count);
    }
  };
  // Blocks [begin, end) are whole.
  const std::ptrdiff_t begin = Lanes > 1 && c.first > 0, end = c.in_blocks - (Lanes > 1 && c.last < block);
  const auto whole_blocks = [&]<bool Fetches>(std::ptrdiff_t count) DICE_INLINED {
    const auto next = [&]() DICE_INLINED {
      x0 += c.step;
      x1 += c.step;
      return --count > 0;
    };
    if (Lanes > 1 && c.tap_count == 1) {
      x0 += first_tap;
      x1 += first_tap;
      do {
        if (c.ahead) DICE_UNROLL
        for (int p = 0; p < Pixels; ++p) __builtin_prefetch(x0 + (Pixels + p) * Lanes);
        add_channels<Lanes, Lanes, Pixels, Fetches>(sum, x0, x1, weights);
      } while (next());
      x0 -= first_tap;
      x1 -= first_tap;
    } else {
      do
        each_tap([&](const float* p0, const float* p1)
                     DICE_INLINED { add_channels<Lanes, Lanes, Pixels, Fetches>(sum, p0, p1, weights); });
      while (next());
    }
  };
  for (std::ptrdiff_t b = 0; b < c.in_blocks; ++b) {
    if (b >= begin && b < end) {
      if (Lanes > 1 && fetches) whole_blocks.template operator()<true>(end - b);
      else whole_blocks.template operator()<false>(end - b);
      b = end;
      if (b == c.in_blocks) break;
    }
    // No loops, whose bounds the compiler would compute in advance.
    if constexpr (Lanes > 1) {
      const int from = b > 0 ? 0 : c.first, to = b + 1 < c.in_blocks ? block : c.last;
      each_tap([&](const float* p0, const float* p1) DICE_INLINED {
        p0 += from;
        p1 += from;
        const auto add = [&]<int Count>(std::integral_constant<int, Count>) DICE_INLINED {
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

/// Finishes a tile with an activation that is no `finishing`.
template <int Pixels> DICE_SHARED void finish_tile(const epilogue& e, float* first, float* second) {
  finish_pixels(e, first, first_segment(Pixels), block);
  finish_pixels(e, second, Pixels - first_segment(Pixels), block);
}

/// Computes `given.count` tiles of Pixels pixels, one after the other.
template <int Pixels, int Lanes> DICE_INLINED inline void tiles_by_lane(const tile_call& given) {
  constexpr int first = first_segment(Pixels);
  // Constants, before GCC decides which sums are in memory.
  const auto each = [](const auto& f) DICE_INLINED {
    unrolled<Pixels * block_vectors>(
        [&](auto i) DICE_INLINED { f(i / block_vectors / first, i / block_vectors % first, i % block_vectors); });
  };
  const auto each_pair = [](const auto& f) DICE_INLINED {
    unrolled<Pixels>([&](auto i) DICE_INLINED {
      unrolled<block_vectors / 2>([&](auto v) DICE_INLINED {
        f(std::integral_constant<int, i / first>(), std::integral_constant<int, i % first>(),
          std::integral_constant<int, 2 * v>());
      });
    });
  };
  // What is the same for all tiles is read once: a copy, which no call can change.
  const tile_call c = given;
  const std::ptrdiff_t first_tap = Lanes > 1 ? c.taps[0] : 0;
  const epilogue* const e = c.finish;
  const finishing activation = e ? finishing(*e) : finishing(epilogue{});
  const bool later = e && !e->bounds.exact, adds = e && e->residual && !later;
  const float *in0 = c.in[0], *in1 = c.in[1];
  float *out0 = c.out[0], *out1 = c.out[1];
  bool fetches = c.fetches;
  for (auto left = c.count; left > 0; --left) {
    float* const out[2] = {out0, out1};
    vec sum[2][first][block_vectors];
    if (c.resume) {
      each_pair([&](auto s, auto p, auto v)
                    DICE_INLINED { load_pair<p * block + v * width>(out[s], sum[s][p][v], sum[s][p][v + 1]); });
    } else if (c.bias) {
      each_pair([&](auto s, auto p, auto v) DICE_INLINED { load_pair<v * width>(c.bias, sum[s][p][v], sum[s][p][v + 1]); });
    } else {
      each([&](int s, int p, int v) DICE_INLINED { sum[s][p][v] = vec{}; });
    }
    add_by_lane<Lanes, Pixels>(sum, c, in0, in1, first_tap, fetches);
    fetches = false;
    if (adds) {
      const float* const residual[2] = {e->residual_at(out0), e->residual_at(out1)};
      each_pair([&](auto s, auto p, auto v) DICE_INLINED {
        vec pair[2];
        load_pair<p * block + v * width>(residual[s], pair[0], pair[1]);
        sum[s][p][v] += pair[0];
        sum[s][p][v + 1] += pair[1];
      });
    }
    with_activation(activation, [&](const auto& apply) DICE_INLINED {
      each([&](int s, int p, int v) DICE_INLINED { sum[s][p][v] = apply(sum[s][p][v]); });
      each_pair([&](auto s, auto p, auto v)
                    DICE_INLINED { store_pair<p * block + v * width>(out[s], sum[s][p][v], sum[s][p][v + 1]); });
    });
    if (later) finish_tile<Pixels>(*e, out0, out1);
    in0 += Pixels * Lanes;
    in1 += Pixels * Lanes;
    out0 += Pixels * block;
    out1 += Pixels * block;
  }
}

}  // namespace dice::kernels::openmp
