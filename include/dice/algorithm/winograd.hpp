#pragma once

#include "dice/graph/graph.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace dice::algorithm {

/// Winograd's minimal filtering of a convolution with stride and dilation 1 (Lavin and Gray, "Fast Algorithms for
/// Convolutional Neural Networks", arXiv 1509.09308): along each axis of the window with k > 1 taps, F(m, k) computes m
/// outputs from n = m + k - 1 inputs by n products instead of m · k, at the points 0, ∞ and ± each of `pairs` numbers, so
/// that n = 2 · pairs + 2. An axis with one tap is left as it is. Tiles are computed in blocks of a few rows and columns,
/// whose transformed inputs are the scratch; they stay in the caches while all output channels use them.
struct winograd {
  /// Most tiles of a block.
  static constexpr std::int64_t max_tiles = 28;
  /// Most blocks whose transformed inputs the scratch holds at once, one per thread.
  static constexpr std::int64_t max_spaces = 4;

  /// One axis of a tile.
  struct axis {
    std::int64_t inputs = 1, outputs = 1;
    constexpr axis() = default;
    constexpr axis(int taps, int pairs) : inputs(taps == 1 ? 1 : 2 * pairs + 2), outputs(inputs - taps + 1) {}
  };

  int variant = 0;  ///< number of the size, from 1 to sizes(); 0: Winograd's algorithm is not used
  int pairs = 0;
  int kernel[2] = {1, 1};
  std::int64_t images = 1, channels = 0, out_channels = 0;
  std::int64_t height = 0, width = 0, out_height = 0, out_width = 0;
  int top = 0, left = 0;  ///< padding
  axis y, x;
  std::int64_t rows = 0, columns = 0;              ///< of tiles
  std::int64_t block_rows = 0, block_columns = 0;  ///< of tiles, in a block

  constexpr std::int64_t points() const { return y.inputs * x.inputs; }
  constexpr std::int64_t block_tiles() const { return block_rows * block_columns; }
  constexpr std::int64_t blocks_down() const { return (rows + block_rows - 1) / block_rows; }
  constexpr std::int64_t blocks_across() const { return (columns + block_columns - 1) / block_columns; }
  constexpr std::int64_t blocks() const { return images * blocks_down() * blocks_across(); }
  constexpr std::int64_t in_blocks() const { return tensor::blocks(channels); }
  constexpr std::int64_t out_blocks() const { return tensor::blocks(out_channels); }
  /// (block of output channels, point, input channel, output channel).
  constexpr std::int64_t weight_elements() const { return out_blocks() * points() * channels * tensor::block; }
  /// Transformed weights, then the bias, both padded with zeros.
  constexpr std::int64_t packed_bytes() const {
    return (weight_elements() + out_blocks() * tensor::block) * tensor::float_bytes;
  }
  /// Elements from one point to the next, of `blocks` blocks of channels of `tiles` tiles: an odd number of cache lines, so
  /// that the points of a tile do not share a few sets of the cache.
  static constexpr std::int64_t pitch(std::int64_t blocks, std::int64_t tiles) {
    return (blocks * tiles | 1) * tensor::block;
  }
  /// Elements of the transformed inputs of a block of tiles: (point, block of channels, tile, channel).
  constexpr std::int64_t space() const { return points() * pitch(in_blocks(), block_tiles()); }
  constexpr std::int64_t spaces() const { return std::min(max_spaces, blocks()); }
  constexpr std::int64_t scratch_bytes() const { return spaces() * space() * tensor::float_bytes; }

  /// Number of tile sizes with which Winograd's algorithm can compute `op`: 3×3 in three, 5×5, 1×7, 7×1, 1×3 and 3×1 in one.
  /// With less than a block of output channels it is not worthwhile: only parts of larger convolutions are computed so.
  static constexpr int possible_sizes(const ops::conv& op, const tensor::shape& in) {
    if (in.rank != 4 || op.group != 1 || op.strides != std::array{1, 1} || op.dilations != std::array{1, 1} || in[1] < 16)
      return 0;
    const auto [h, w] = op.kernel;
    if (h == 3 && w == 3) return 3;
    const bool line = (h == 1 || w == 1) && (h * w == 3 || h * w == 7);
    return line || (h == 5 && w == 5) ? 1 : 0;
  }
  /// Number of those among which one is chosen.
  static constexpr int sizes(const ops::conv& op, const tensor::shape& in) {
    return op.channels < tensor::block ? 0 : possible_sizes(op, in);
  }
  /// The fewest pairs of points for a window: tiles of two outputs; of four for three taps along one axis only.
  static constexpr int min_pairs(const std::array<int, 2>& taps) {
    const int most = std::max(taps[0], taps[1]);
    return most == 7 ? 3 : most == 5 || taps[0] != taps[1] ? 2 : 1;
  }

  constexpr winograd() = default;
  /// Size `v` (1 … possible_sizes()) of a convolution.
  constexpr winograd(int v, const ops::conv& op, const tensor::shape& in, const tensor::shape& result)
      : variant(v),
        pairs(min_pairs(op.kernel) + v - 1),
        kernel{op.kernel[0], op.kernel[1]},
        images(in[0]),
        channels(in[1]),
        out_channels(op.channels),
        height(in[2]),
        width(in[3]),
        out_height(result[2]),
        out_width(result[3]),
        top(op.pads[0]),
        left(op.pads[1]),
        y(kernel[0], pairs),
        x(kernel[1], pairs) {
    const auto parts = [](std::int64_t n, std::int64_t most) { return (n + most - 1) / most; };
    rows = parts(out_height, y.outputs);
    columns = parts(out_width, x.outputs);
    block_columns = parts(columns, parts(columns, max_tiles));
    block_rows = parts(rows, parts(rows, max_tiles / block_columns));
  }

  /// Estimated time, in products at full speed: a transform along one axis takes as long as `in` products per input channel
  /// and `out` per output channel; reading a weight from memory takes `load`. Fitted to one Zen 5 core.
  constexpr double time() const {
    constexpr double in[] = {0, 56, 108, 144}, out[] = {0, 58, 100, 136};
    const auto tiles = static_cast<double>(images * rows * columns), weights = static_cast<double>(weight_elements());
    // Columns first, then the rows that they give; along a single axis, reads and writes count more.
    const bool both = kernel[0] > 1 && kernel[1] > 1;
    const auto ins = both ? static_cast<double>(x.inputs + y.inputs) : 2,
               outs = both ? static_cast<double>(x.inputs + y.outputs) : 2;
    return weights * std::max(tiles, load) +
           tiles * (static_cast<double>(channels) * ins * in[pairs] + static_cast<double>(out_channels) * outs * out[pairs]);
  }
  static constexpr double load = 18;

  /// The fastest for `op`, with variant 0 if that is the direct convolution. Larger tiles need more memory for weights (3×3:
  /// 1.8, 4 and 7 times that of the plain ones): they must be a tenth faster.
  static constexpr winograd best(const ops::conv& op, const tensor::shape& in, const tensor::shape& result) {
    winograd out;
    constexpr double direct = 1.1;  // direct tiles run at some 90 % of full speed
    const auto products = static_cast<double>(op.kernel[0] * op.kernel[1] * in[1] * op.channels);
    double least = direct * products * std::max(static_cast<double>(in[0] * result.product(2, result.rank)), load);
    for (int v = 1; v <= sizes(op, in); ++v)
      if (const winograd w(v, op, in, result); w.time() < 0.9 * least) {
        out = w;
        least = w.time();
      }
    return out;
  }
};

}  // namespace dice::algorithm
