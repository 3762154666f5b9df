// The register tile of a product whose inputs lie in vectors of input channels and whose outputs do in vectors of output
// channels: some rows (tiles of Winograd's algorithm) times two or four vectors.
#pragma once

#include "dice/kernels/detail/epilogue.hpp"
#include "dice/kernels/detail/vector.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace dice::kernels::host {

using namespace detail;

/// Vectors of output channels, their lanes, and most rows: as many sums as there are registers beside the weights' vectors
/// and one input.
inline constexpr int block_vectors = width == 4 ? 4 : 2;
inline constexpr int block_lanes = block_vectors * width;
inline constexpr int block_rows = (platform::vector_registers - block_vectors - 1) / block_vectors;

/// output[v · plane + r · width + lane] = Σ over b < blocks, k < width of input[b · block + r · width + k] ·
/// weights[(b · width + k) · pitch + v · width + lane].
struct block_product {
  const float* input;
  std::ptrdiff_t block, blocks;
  const float* weights;
  std::ptrdiff_t pitch;
  float* output;
  std::ptrdiff_t plane;
};

template <int Rows> DICE_SHARED void block_tile(const block_product& p) {
  vec sum[Rows][block_vectors];
  DICE_UNROLL
  for (int r = 0; r < Rows; ++r) DICE_UNROLL
  for (int v = 0; v < block_vectors; ++v) sum[r][v] = vec{};
  const float* weights = p.weights;
  for (std::ptrdiff_t b = 0; b < p.blocks; ++b) {
    const float* x = p.input + b * p.block;
    for (int k = 0; k < width; ++k, weights += p.pitch) {
      vec w[block_vectors];
      DICE_UNROLL
      for (int v = 0; v < block_vectors; ++v) w[v] = load(weights + v * width);
      DICE_UNROLL
      for (int r = 0; r < Rows; ++r) {
        const vec in = splat(x[r * width + k]);
        DICE_UNROLL
        for (int v = 0; v < block_vectors; ++v) sum[r][v] = fma(in, w[v], sum[r][v]);
      }
    }
  }
  DICE_UNROLL
  for (int v = 0; v < block_vectors; ++v) DICE_UNROLL
  for (int r = 0; r < Rows; ++r) store(p.output + v * p.plane + r * width, sum[r][v]);
}

/// The tile of 1 … block_rows rows.
inline void (*block_tile_of(std::int64_t rows))(const block_product&) {
  static constexpr auto table = []<int... R>(std::integer_sequence<int, R...>) {
    return std::array<void (*)(const block_product&), block_rows>{&block_tile<R + 1>...};
  }
  (std::make_integer_sequence<int, block_rows>{});
  return table[static_cast<std::size_t>(rows - 1)];
}

}  // namespace dice::kernels::host
