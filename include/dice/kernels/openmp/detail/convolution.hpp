// Direct convolution, see cost::convolution: register tiles of pixels × output channels over the input, in place or padded.
//
// Loops, from the outside: chunks of tiles whose input stays in the second-level cache; blocks of output channels; parts of
// the input channels whose weights stay in that cache while the tiles go over them; tiles.
#pragma once

#include "dice/kernels/openmp/detail/padded.hpp"
#include "dice/kernels/openmp/detail/tile.hpp"

#include <cstddef>

namespace dice::kernels::host {

/// One band of one image, ready to be computed.
struct band {
  const cost::convolution* form;
  const float* input;  ///< padded, or in place
  const float *weights, *bias;
  const std::ptrdiff_t* taps;  ///< offsets in elements
  float* output;               ///< the image's
  std::int64_t first_row, rows;
  const epilogue* finish;
};

/// How the pixels of a band are cut into tiles of two equal segments, numbered from 0: narrow rows two at a time, one a
/// segment; a wide row, or the last of an odd number, into pieces of both segments each, which have a pixel in common if
/// their number is odd.
class tiling {
 public:
  struct piece {
    std::int64_t pixels;             ///< of each segment
    std::int64_t row[2], column[2];  ///< of its first pixel
  };
  tiling(std::int64_t rows, std::int64_t width) : rows_(rows), width_(width) {
    pairs_ = width < tile_pixels && rows > 1;
    parts_ = ((pairs_ ? width : (width + 1) / 2) + segment - 1) / segment;
  }
  std::int64_t size() const { return pairs_ ? rows_ / 2 * parts_ + rows_ % 2 : rows_ * parts_; }
  piece operator[](std::int64_t i) const {
    const auto part = i % parts_, y = i / parts_;
    if (pairs_ && 2 * y + 1 < rows_) {
      const auto from = width_ * part / parts_, to = width_ * (part + 1) / parts_;
      return {to - from, {2 * y, 2 * y + 1}, {from, from}};
    }
    if (pairs_) return {(width_ + 1) / 2, {2 * y, 2 * y}, {0, width_ / 2}};
    const auto halves = (width_ + 1) / 2, from = 2 * (halves * part / parts_),
               to = std::min(width_, 2 * (halves * (part + 1) / parts_)), pixels = (to - from + 1) / 2;
    return {pixels, {y, y}, {from, to - pixels}};
  }

 private:
  std::int64_t rows_, width_, parts_;
  bool pairs_;
};

/// Computes tiles [begin, end) of `b` for `blocks` blocks of output channels from `first` on.
template <int Lanes>
void convolve_blocks(const band& b, const tiling& tiles, std::int64_t first, std::int64_t blocks, std::int64_t begin,
                     std::int64_t end) {
  constexpr std::int64_t cache = 256 * 1024;
  const auto& form = *b.form;
  const auto taps = form.taps(), area = form.y.out * form.x.out, depth = form.depth * taps * block;
  const auto reads = form.reads(first);
  const auto first_in = reads.from / Lanes, last_in = (reads.to + Lanes - 1) / Lanes;
  const auto step = form.plane * Lanes;
  const auto most = std::max<std::int64_t>(1, cache / (taps * Lanes * block * blocks * tensor::element_bytes));
  const auto parts = (last_in - first_in + most - 1) / most;
  const float* weights = b.weights + first * depth;
  float* output = b.output + (first * area + b.first_row * form.x.out) * block;
  for (std::int64_t part = 0; part < parts; ++part) {
    const auto from = first_in + (last_in - first_in) * part / parts,
               to = first_in + (last_in - first_in) * (part + 1) / parts;
    tile_call c{.in = {},
                .in_blocks = to - from,
                .step = step,
                .first = from == first_in ? static_cast<int>(reads.from % Lanes) : 0,
                .last = to == last_in ? static_cast<int>((reads.to - 1) % Lanes) + 1 : Lanes,
                .taps = b.taps,
                .tap_count = taps,
                .weights = weights,
                .depth = depth,
                .out = {},
                .plane = area * block,
                .bias = b.bias + first * block,
                .finish = part + 1 == parts ? b.finish : nullptr,
                .resume = part > 0};
    for (auto i = begin; i < end; ++i) {
      const auto at = tiles[i];
      for (int s = 0; s < 2; ++s) {
        c.in[s] = b.input + from * step + (at.row[s] * form.pitch + at.column[s]) * Lanes;
        c.out[s] = output + (at.row[s] * form.x.out + at.column[s]) * block;
      }
      tile_of<Lanes>(at.pixels, blocks)(c);
    }
    weights += (std::min(to * Lanes, reads.to) - std::max(from * Lanes, reads.from)) * taps * block;
  }
}

/// Computes the part of a band that belongs to thread `thread` of `threads`.
template <int Lanes> DICE_SHARED void convolve(const band& b, std::int64_t thread, std::int64_t threads) {
  constexpr std::int64_t cache = 512 * 1024;
  const auto& form = *b.form;
  const tiling tiles(b.rows, form.x.out);
  const std::int64_t together = form.groups == 1 ? tile_blocks : 1;  // others may read other channels
  const auto columns = (form.out_blocks() + together - 1) / together;
  const auto bytes = b.rows * form.x.out * form.in_blocks() * Lanes * tensor::element_bytes;
  auto chunks = form.in_place ? (bytes + cache - 1) / cache : 1;
  if (threads > 1) chunks = std::max(chunks, (4 * threads + columns - 1) / columns);
  chunks = std::min(chunks, tiles.size());
  const auto units = chunks * columns, last = units * (thread + 1) / threads;
  for (auto u = units * thread / threads; u < last; ++u) {
    const auto chunk = u / columns, first = u % columns * together;
    convolve_blocks<Lanes>(b, tiles, first, std::min(together, form.out_blocks() - first), tiles.size() * chunk / chunks,
                           tiles.size() * (chunk + 1) / chunks);
  }
}

}  // namespace dice::kernels::host
