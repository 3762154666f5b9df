#pragma once

#include "dice/model/model.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace dice::cost {

/// Winograd's minimal filtering F(m×m, 3×3) of a convolution with stride and dilation 1 (Lavin and Gray, "Fast Algorithms
/// for Convolutional Neural Networks", arXiv 1509.09308), m = 2 · pairs: tiles of m×m outputs from (m+2)×(m+2) inputs, each
/// product of transformed weights and inputs a multiplication instead of 9 · m² / (m+2)². Tiles are computed in blocks of a
/// few rows and columns, whose transformed inputs are the scratch; they stay in the caches while all output channels go over
/// them.
struct winograd {
  /// Most tiles of a block.
  static constexpr std::int64_t most_tiles = 28;

  int pairs = 0;  ///< of points ±q beside 0 and ∞; 0: the convolution is not computed so
  std::int64_t images = 1, channels = 0, out_channels = 0;
  std::int64_t height = 0, width = 0, out_height = 0, out_width = 0;
  int top = 0, left = 0;                           ///< padding
  std::int64_t rows = 0, columns = 0;              ///< of tiles
  std::int64_t block_rows = 0, block_columns = 0;  ///< of tiles, in a block

  constexpr std::int64_t outputs() const { return 2 * pairs; }
  constexpr std::int64_t inputs() const { return 2 * pairs + 2; }
  constexpr std::int64_t points() const { return inputs() * inputs(); }
  constexpr std::int64_t block_tiles() const { return block_rows * block_columns; }
  constexpr std::int64_t in_blocks() const { return tensor::blocks(channels); }
  constexpr std::int64_t out_blocks() const { return tensor::blocks(out_channels); }
  /// (block of output channels, point, input channel, output channel).
  constexpr std::int64_t weight_elements() const { return out_blocks() * points() * channels * tensor::block; }
  /// Transformed weights, then the bias, both padded with zeros.
  constexpr std::int64_t packed_bytes() const {
    return (weight_elements() + out_blocks() * tensor::block) * tensor::element_bytes;
  }
  /// Elements from one point to the next, of `blocks` blocks of channels of `tiles` tiles: an odd number of cache lines, so
  /// that the points of a tile do not share a few sets of the cache.
  static constexpr std::int64_t pitch(std::int64_t blocks, std::int64_t tiles) {
    return (blocks * tiles | 1) * tensor::block;
  }
  /// The transformed inputs of a block of tiles: (point, block of channels, tile, channel).
  constexpr std::int64_t scratch_bytes() const {
    return points() * pitch(in_blocks(), block_tiles()) * tensor::element_bytes;
  }

  /// Whether Winograd's algorithm can compute `op`.
  static constexpr bool fits(const ops::conv& op, const tensor::shape& in) {
    return in.rank == 4 && op.group == 1 && op.kernel == std::array{3, 3} && op.strides == std::array{1, 1} &&
           op.dilations == std::array{1, 1} && in[1] >= 16 && op.channels >= 16;
  }

  constexpr winograd() = default;
  /// F(2·pairs × 2·pairs, 3×3) of a convolution that fits.
  constexpr winograd(int p, const ops::conv& op, const tensor::shape& in, const tensor::shape& result)
      : pairs(p),
        images(in[0]),
        channels(in[1]),
        out_channels(op.channels),
        height(in[2]),
        width(in[3]),
        out_height(result[2]),
        out_width(result[3]),
        top(op.pads[0]),
        left(op.pads[1]) {
    const auto parts = [](std::int64_t n, std::int64_t most) { return (n + most - 1) / most; };
    rows = parts(out_height, outputs()), columns = parts(out_width, outputs());
    block_columns = parts(columns, parts(columns, most_tiles));
    block_rows = parts(rows, parts(rows, most_tiles / block_columns));
  }

  /// About how long it takes, in products at full speed: to transform a channel of a tile takes as long as `in` products, to
  /// finish one as long as `out`, to read a weight from memory as long as `load`. Fitted to one Zen 5 core, where on the
  /// layers of VGG-19 and ResNet-18 the choice took up to a quarter more time than the fastest size.
  constexpr double time() const {
    constexpr double in[] = {0, 450, 1300, 2300}, out[] = {0, 350, 1000, 1900}, load = 18;
    const auto tiles = static_cast<double>(images * rows * columns), weights = static_cast<double>(weight_elements());
    return weights * std::max(tiles, load) +
           tiles * (static_cast<double>(channels) * in[pairs] + static_cast<double>(out_channels) * out[pairs]);
  }

  /// The fastest for `op`, with pairs = 0 if that is the direct convolution. Larger tiles need more memory for weights (1.8,
  /// 4 and 7 times that of the plain ones): they must be a tenth faster.
  static constexpr winograd best(const ops::conv& op, const tensor::shape& in, const tensor::shape& result) {
    winograd out;
    if (!fits(op, in)) return out;
    constexpr double load = 18, direct = 1.2;  // direct tiles run at some 80 % of full speed
    const auto pixels = static_cast<double>(in[0] * result[2] * result[3]);
    double least = direct * 9 * static_cast<double>(in[1] * op.channels) * std::max(pixels, load);
    for (int p = 1; p <= 3; ++p)
      if (const winograd w(p, op, in, result); w.time() < 0.9 * least) out = w, least = w.time();
    return out;
  }
};

}  // namespace dice::cost
