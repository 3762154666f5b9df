// The register tile of all convolutions: pixels × blocks of output channels, summed over channels and taps of a blocked
// input (or of planes), and finished while they are in registers. The pixels of a segment, the blocks and the distance
// between neighbouring pixels are template parameters, so that no register is spilled and every address is a constant
// offset.
#pragma once

#include "dice/kernels/openmp/detail/by_lane.hpp"
#include "dice/kernels/openmp/detail/finish.hpp"
#include "dice/kernels/openmp/detail/products.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace dice::kernels::openmp {

template <int Pixels, int Blocks, int Lanes> DICE_SHARED void tile(const tile_call& c) {
  if constexpr (multiplies_by_lane) {
    tiles_by_lane<Pixels, Lanes>(c);
  } else {
    constexpr int vectors = Blocks * block_vectors, segment = first_segment(Pixels);
    vec sum[2][segment][vectors];
    const auto each = [](const auto& f) DICE_INLINED {
      DICE_UNROLL
      for (int s = 0; s < 2; ++s) DICE_UNROLL
      for (int p = 0; p < segment; ++p) DICE_UNROLL
      for (int v = 0; v < vectors; ++v) f(s, p, v);
    };
    const auto in_plane = [](int p, int v) DICE_INLINED { return v % block_vectors * width + p * block; };
    const auto offset = [&](int p, int v) DICE_INLINED { return v / block_vectors * c.plane + in_plane(p, v); };
    if (c.resume) {
      each([&](int s, int p, int v) DICE_INLINED { sum[s][p][v] = load(c.out[s] + offset(p, v)); });
    } else if (c.bias) {
      each([&](int s, int p, int v) DICE_INLINED { sum[s][p][v] = load(c.bias + v * width); });
    } else {
      each([&](int s, int p, int v) DICE_INLINED { sum[s][p][v] = vec{}; });
    }

    add_by_vector<Lanes>(sum, c);

    float* const out[2] = {c.out[0], c.out[1]};  // copies: stores may change what a reference refers to
    if (!c.finish) return each([&](int s, int p, int v) DICE_INLINED { store(out[s] + offset(p, v), sum[s][p][v]); });
    const epilogue& e = *c.finish;
    with_activation(e, [&](const auto& activation) DICE_INLINED {
      const bool adds = e.residual && e.bounds.exact;
      const float* residual[2] = {out[0], out[1]};
      if (adds)
        for (int s = 0; s < 2; ++s) residual[s] = e.residual_at(out[s]);
      const auto residual_plane = c.plane + e.residual_skip;
      each([&](int s, int p, int v) DICE_INLINED {
        vec x = sum[s][p][v];
        if (adds) x += load(residual[s] + v / block_vectors * residual_plane + in_plane(p, v));
        store(out[s] + offset(p, v), activation(x));
      });
    });
    if (!e.bounds.exact) {
      // Segments may overlap; the shared pixels must not be finished twice.
      const auto shared = (out[0] + segment * block - out[1]) / block;
      const int again = shared > 0 ? static_cast<int>(shared) : 0;
      for (int b = 0; b < Blocks; ++b) {
        finish_pixels(e, out[0] + b * c.plane, segment, block);
        finish_pixels(e, out[1] + b * c.plane + again * block, segment - again, block);
      }
    }
  }
}

using tile_function = void (*)(const tile_call&);

/// The tile of `pixels` pixels, from 1 to tile_pixels<Lanes>, that are Lanes elements apart.
template <int Lanes> tile_function tile_of(std::int64_t pixels, std::int64_t blocks) {
  constexpr int step = shares_pixels ? 2 : 1;
  static constexpr auto table = []<int... P>(std::integer_sequence<int, P...>) {
    return std::array<std::array<tile_function, sizeof...(P)>, 2>{
        {{&tile<step*(P + 1), 1, Lanes>...}, {&tile<step*(P + 1), tile_blocks, Lanes>...}}};
  }
  (std::make_integer_sequence<int, tile_pixels<Lanes> / step>{});
  return table[blocks > 1 ? 1 : 0][(pixels - 1) / step];
}

}  // namespace dice::kernels::openmp
