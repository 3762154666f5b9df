#pragma once

#include "dice/kernels/openmp/detail/base.hpp"
#include "dice/kernels/openmp/detail/convolution.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::kernels {

/// See algorithm::matrix.
template <> struct kernel<openmp::backend, ops::mat_mul> : openmp::base<ops::mat_mul> {
  static constexpr int block = openmp::block;

  static void prepare(const ops::mat_mul& op, graph::shapes, const tensor::shape& result, int, floats from, std::byte* to) {
    const algorithm::matrix m(op, result);
    auto* packed = reinterpret_cast<float*>(to);
    openmp::parallel_for(m.column_blocks(), m.depth * block, [&](std::int64_t begin, std::int64_t end) {
      for (auto b = begin; b < end; ++b) {
        const auto there = std::min<std::int64_t>(block, m.columns - b * block);
        float* bias = packed + m.weight_elements() + b * block;
        for (std::int64_t o = 0; o < block; ++o) {
          const float* row = from[0] + (b * block + o) * m.depth;
          float* column = packed + b * block * m.depth + o;
          for (std::int64_t k = 0; k < m.depth; ++k) column[k * block] = o < there ? row[k] : 0;
          bias[o] = o < there && op.bias ? from[1][b * block + o] : 0;
        }
      }
    });
  }

  static void compute(const ops::mat_mul& op, graph::shapes, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const algorithm::matrix m(op, result);
    auto* const band = reinterpret_cast<float*>(c.scratch);
    const auto pairs = (m.column_blocks() + openmp::tile_blocks - 1) / openmp::tile_blocks;
    const auto work = m.rows * pairs * m.depth;
    team::run(openmp::threads_for(work, work), [&](std::int64_t t, std::int64_t n) {
      for (std::int64_t first = 0; first < m.rows; first += m.band) {
        const auto rows = std::min(m.band, m.rows - first);
        if (first > 0) team::barrier();
        team::share((rows + 15) / 16, t, n, [&](std::int64_t u) {
          pack(m, c.inputs[0] + first * m.depth, u * 16, std::min(rows, u * 16 + 16), rows, band);
        });
        team::barrier();
        const openmp::tiling tiles(1, rows, openmp::tile_pixels<block>);
        const auto chunks = std::min(tiles.size(), n > 1 ? (4 * n + pairs - 1) / pairs : 1);
        team::share(chunks * pairs, t, n, [&](std::int64_t u) {
          const auto chunk = u / pairs;
          multiply(m, c, e, band, first, rows, u % pairs * openmp::tile_blocks, tiles, tiles.size() * chunk / chunks,
                   tiles.size() * (chunk + 1) / chunks);
        });
      }
    });
  }

 private:
  /// Rows [begin, end) of a band of `rows` rows.
  static void pack(const algorithm::matrix& m, const float* from, std::int64_t begin, std::int64_t end, std::int64_t rows,
                   float* to) {
    using namespace detail;
    for (auto r = begin; r < end; ++r)
      for (std::int64_t k = 0; k < m.depth; k += width) {
        const float* x = from + r * m.depth + k;
        store(to + (k / block * rows + r) * block + k % block, m.depth - k < width ? load_first(x, m.depth - k) : load(x));
      }
  }
  /// Tiles [begin, end) of columns from the block `column` on, for the band of `rows` rows that begins with row `first`:
  /// parts of the depth whose weights stay in the first-level cache while some tiles use them.
  static void multiply(const algorithm::matrix& m, const call& c, const detail::epilogue& e, const float* band,
                       std::int64_t first, std::int64_t rows, std::int64_t column, const openmp::tiling& tiles,
                       std::int64_t begin, std::int64_t end) {
    using namespace openmp;
    constexpr std::int64_t most = 112 / tile_pixels<block>,
                           part = 16 * 1024 / (tile_blocks * block * block * tensor::float_bytes);
    constexpr std::int64_t plane = most * tile_pixels<block> * block;
    alignas(64) float sums[tile_blocks * plane];
    const auto* const weights = reinterpret_cast<const float*>(c.packed) + column * m.depth * block;
    const std::ptrdiff_t tap = 0;
    const auto blocks = std::min<std::int64_t>(tile_blocks, m.column_blocks() - column), depth = m.depth_blocks();
    tile_call tile{.in = {},
                   .in_blocks = 0,
                   .step = rows * block,
                   .taps = &tap,
                   .tap_count = 1,
                   .weights = weights,
                   .depth = m.depth * block,
                   .out = {},
                   .plane = plane,
                   .bias = reinterpret_cast<const float*>(c.packed) + m.weight_elements() + column * block};
    const auto groups = (end - begin + most - 1) / most;  // of tiles that are computed together
    for (std::int64_t group = 0; group < groups; ++group) {
      const auto start = begin + (end - begin) * group / groups, stop = begin + (end - begin) * (group + 1) / groups;
      const auto fetched = part * block / std::max<std::int64_t>(8, stop - start);  // by each tile
      const auto zero = tiles.column(start), after = tiles.column(stop);            // rows
      for (std::int64_t k = 0; k < depth; k += part) {
        tile.in_blocks = std::min(part, depth - k);
        tile.last = static_cast<int>(std::min<std::int64_t>(block, m.depth - (k + tile.in_blocks - 1) * block));
        tile.weights = weights + k * block * block;
        tile.resume = k > 0;
        // The first tiles fetch the weights of the next part, which come from memory, little by little.
        const float* next = tile.weights + tile.in_blocks * block * block;
        tiles.each(start, stop, [&](std::int64_t pixels, const segments&, segments at, std::int64_t count, bool fetches) {
          for (; count > 0; --count, fetches = false) {
            for (std::int64_t i = 0; i < fetched; ++i, next += block)
              for (std::int64_t b = 0; b < blocks; ++b) __builtin_prefetch(next + b * tile.depth, 0, 2);
            if (k + part >= depth)  // where the results will go
              for (auto row = at.at[0]; row < at.at[0] + pixels; ++row)
                for (std::int64_t b = 0; b < blocks; ++b)
                  __builtin_prefetch(c.output + (first + row) * m.columns + (column + b) * block, 1);
            for (int s = 0; s < 2; ++s) {
              tile.in[s] = band + (k * rows + at.at[s]) * block;
              tile.out[s] = sums + (at.at[s] - zero) * block;
              at.at[s] += pixels;
            }
            tile.fetches = fetches;
            tile_of<block>(pixels, blocks)(tile);
          }
        });
      }
      for (std::int64_t b = 0; b < blocks; ++b)
        e({.to = c.output + (first + zero) * m.columns + (column + b) * block,
           .from = sums + b * plane,
           .to_stride = m.columns,
           .from_stride = block,
           .rows = static_cast<int>(after - zero),
           .columns = std::min<std::int64_t>(block, m.columns - (column + b) * block)});
    }
  }
};

}  // namespace dice::kernels
