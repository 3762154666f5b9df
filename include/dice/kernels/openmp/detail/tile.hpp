// The register tile of all convolutions: pixels × blocks of output channels, summed over channels and taps of a blocked
// input (or of planes), and finished while they are in registers. The pixels of a segment, the blocks and the distance
// between neighbouring pixels are template parameters, so that no register is spilled and every address is a constant
// offset.
#pragma once

#include "dice/kernels/openmp/detail/products.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace dice::kernels::openmp {

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
  constexpr int vectors = Blocks * block_vectors, first = first_segment(Pixels);
  vec sum[2][first][vectors];
  const auto each = [](const auto& f) __attribute__((always_inline)) {
    if constexpr (multiplies_by_lane) {  // constants before GCC decides which sums are in memory
      unrolled<Pixels * vectors>([&](auto i) __attribute__((always_inline)) {
        f(i / vectors / first, i / vectors % first, i % vectors);
      });
    } else {
      DICE_UNROLL
      for (int i = 0; i < Pixels; ++i) DICE_UNROLL
      for (int v = 0; v < vectors; ++v) f(i / first, i % first, v);
    }
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

  if constexpr (multiplies_by_lane) add_by_lane<Lanes, Pixels>(sum, c);
  else add_by_vector<Lanes>(sum, c);

  float* const out[2] = {c.out[0], c.out[1]};  // copies: stores may change what a reference refers to
  // By lane, two vectors of one block at a time.
  const auto each_pair = [](const auto& f) __attribute__((always_inline)) {
    unrolled<Pixels>([&](auto i) __attribute__((always_inline)) {
      unrolled<block_vectors / 2>([&](auto v) __attribute__((always_inline)) {
        f(std::integral_constant<int, i / first>(), std::integral_constant<int, i % first>(),
          std::integral_constant<int, 2 * v>());
      });
    });
  };
  const auto store_pairs = [&]() __attribute__((always_inline)) {
    each_pair([&](auto s, auto p, auto v) __attribute__((always_inline)) {
      store_pair<p * block + v * width>(out[s], sum[s][p][v], sum[s][p][v + 1]);
    });
  };
  if (!c.finish) {
    if constexpr (multiplies_by_lane) return store_pairs();
    else
      return each([&](int s, int p, int v) __attribute__((always_inline)) { store(out[s] + offset(p, v), sum[s][p][v]); });
  }
  const epilogue& e = *c.finish;
  with_activation(
      e, [&](const auto& activation) __attribute__((always_inline)) {
        const bool adds = e.residual && e.bounds.exact;
        const float* residual[2] = {out[0], out[1]};
        if (adds)
          for (int s = 0; s < 2; ++s) residual[s] = e.residual_at(out[s]);
        if constexpr (multiplies_by_lane) {
          if (adds)
            each_pair([&](auto s, auto p, auto v) __attribute__((always_inline)) {
              vec pair[2];
              load_pair<p * block + v * width>(residual[s], pair[0], pair[1]);
              for (int i = 0; i < 2; ++i) sum[s][p][v + i] += pair[i];
            });
          each([&](int s, int p, int v) __attribute__((always_inline)) { sum[s][p][v] = activation(sum[s][p][v]); });
          return store_pairs();
        }
        const auto residual_plane = c.plane + e.residual_skip;
        each([&](int s, int p, int v) __attribute__((always_inline)) {
          vec x = sum[s][p][v];
          if (adds) x += load(residual[s] + v / block_vectors * residual_plane + in_plane(p, v));
          store(out[s] + offset(p, v), activation(x));
        });
      });
  if (!e.bounds.exact) {
    // Segments may overlap; the shared pixels must not be finished twice.
    const auto shared = (out[0] + first * block - out[1]) / block;
    const int again = shared > 0 ? static_cast<int>(shared) : 0;
    for (int b = 0; b < Blocks; ++b) {
      finish_pixels(e, out[0] + b * c.plane, first, block);
      finish_pixels(e, out[1] + b * c.plane + again * block, Pixels - first - again, block);
    }
  }
}

using tile_function = void (*)(const tile_call&);

/// The tile of `pixels` pixels, from 1 to tile_pixels<Lanes>, that are Lanes elements apart.
template <int Lanes> tile_function tile_of(std::int64_t pixels, std::int64_t blocks) {
  constexpr int step = shares_pixels ? 2 : 1;
  static constexpr auto table = []<int... P>(std::integer_sequence<int, P...>) {
    return std::array<std::array<tile_function, sizeof...(P)>, 2>{
        {{&tile<step * (P + 1), 1, Lanes>...}, {&tile<step * (P + 1), tile_blocks, Lanes>...}}};
  }
  (std::make_integer_sequence<int, tile_pixels<Lanes> / step>{});
  return table[blocks > 1 ? 1 : 0][(pixels - 1) / step];
}

}  // namespace dice::kernels::openmp
