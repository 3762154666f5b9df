// Direct convolution, see algorithm::convolution: register tiles of pixels × output channels over the input, in place or
// padded.
//
// Loops, outermost first: chunks of tiles whose input stays in the second-level cache; blocks of output channels; parts of
// the input channels whose weights stay in that cache while all tiles of a chunk use them; tiles.
#pragma once

#include "dice/kernels/openmp/detail/padded.hpp"
#include "dice/kernels/openmp/detail/parallel.hpp"
#include "dice/kernels/openmp/detail/tile.hpp"

#include <cstddef>
#include <cstdint>

namespace dice::kernels::openmp {

/// The rows and columns of the anchor's results that a call computes.
struct window {
  std::int64_t top, bottom, left, right;

  std::int64_t rows() const { return bottom - top; }
  std::int64_t columns() const { return right - left; }
  std::int64_t pixels() const { return rows() * columns(); }
};
inline window window_of(const call& c, const epilogue& e, std::int64_t rows, std::int64_t columns) {
  if (!c.part) return {0, rows, 0, columns};
  const int scale = e.pools_2x2 ? 2 : 1;
  const auto& p = *c.part;
  return {scale * p.begin[2], scale * p.end[2], scale * p.begin[3], scale * p.end[3]};
}

/// One band of one image, ready to be computed.
struct band {
  const algorithm::convolution* form;
  const float* input;   ///< padded, or in place
  std::ptrdiff_t step;  ///< elements between its planes
  const float *weights, *bias;
  const std::ptrdiff_t* taps;  ///< offsets in elements
  float* output;               ///< the image's
  std::ptrdiff_t plane;        ///< elements between its blocks of channels
  std::int64_t first_row, rows, first_column, columns;
  const epilogue* finish;
};

/// A number for each segment of a tile.
struct segments {
  std::int64_t at[2];
};

/// How the pixels of a band are cut into tiles of two segments, numbered from 0. Narrow rows go in pairs, one row per
/// segment. A wide row, or the last of an odd number of rows, is cut into tiles whose segments follow one another.
class tiling {
 public:
  /// Tiles of at most `most` pixels.
  tiling(std::int64_t rows, std::int64_t width, int most)
      : rows_(rows), width_(width), pairs_(width < most && rows > 1), most_(pairs_ ? most / 2 : most) {
    parts_ = (width + most_ - 1) / most_;
    // A last tile of so few pixels would wait for its sums; it shares the pixels of the one before. Not with AVX-512, whose
    // longer tiles hide better how slowly weights arrive (Winograd's on small maps took 10 % more time, Zen 4).
    if (const auto last = width - (parts_ - 1) * most_; most < 8 && parts_ > 1 && last < 3) shift_ = (most_ - last) / 2;
  }
  /// The first column of part `part` of a row.
  std::int64_t column(std::int64_t part) const {
    return part == parts_ ? width_ : part * most_ - (part + 1 == parts_ ? shift_ : 0);
  }
  std::int64_t size() const { return pairs_ ? rows_ / 2 * parts_ + rows_ % 2 : rows_ * parts_; }
  /// Calls f(pixels, rows and columns of the segments' first pixels, count, fetches) for tiles [begin, end). By lane, a call
  /// is for `count` of them, of the same number of pixels, that follow one another in a row; else for one. `fetches`: as in
  /// tile_call, for the first tile, which finds no weights in the cache, and by vector also for the last, which fetches the
  /// first of the next part. A prefetch takes its time: ViT-B/16 took 3 % more when all tiles fetched (Zen 4 with AVX2).
  template <class F> void each(std::int64_t begin, std::int64_t end, const F& f) const {
    auto y = begin / parts_, part = begin % parts_;
    const auto whole = shift_ ? parts_ - 2 : width_ / most_;  // tiles of a row that have `most_` pixels
    std::int64_t count = 1;
    for (auto i = begin; i < end; i += count) {
      const auto from = column(part), pixels = column(part + 1) - from;
      if constexpr (multiplies_by_lane) count = pairs_ || part >= whole ? 1 : std::min(end - i, whole - part);
      const bool fetches = i == begin || (!multiplies_by_lane && i + count == end);
      if (!pairs_) f(pixels, segments{y, y}, segments{from, from + pixels - second_segment(pixels)}, count, fetches);
      else if (2 * y + 1 < rows_) f(2 * pixels, segments{2 * y, 2 * y + 1}, segments{from, from}, count, fetches);
      else f(width_, segments{2 * y, 2 * y}, segments{0, width_ - second_segment(width_)}, count, fetches);
      if ((part += count) == parts_) {
        part = 0;
        ++y;
      }
    }
  }

 private:
  std::int64_t rows_, width_;
  bool pairs_;
  std::int64_t most_, parts_, shift_ = 0;
};

/// Computes those results of a segment again that are NaN, each from the channels of its own group. Where a block of output
/// channels has several groups, a tile multiplies the other groups' channels by weights of 0, and 0 · ∞ is NaN. `in`: the
/// segment's first pixel in the band's input; `out`: in block `first`; `finish`: as for the tile.
template <int Lanes>
DICE_SHARED void redo_nan(const band& b, std::int64_t first, std::int64_t pixels, const float* in, float* out,
                          const epilogue* finish) {
  const auto& form = *b.form;
  const auto taps = form.taps(), begin = form.reads(first).from, end = form.reads(first).to;
  for (std::int64_t i = 0; i < pixels * block; ++i) {
    const auto pixel = i / block, lane = i % block, o = first * block + lane;
    if (out[i] == out[i] || o >= form.out_channels) continue;
    const auto own = o / form.group_outputs * form.group_channels;
    float sum = b.bias[o];
    for (auto c = own; c < own + form.group_channels; ++c) {
      const auto from = std::max(begin, c / Lanes * Lanes), to = std::min(end, c / Lanes * Lanes + Lanes);  // of its block
      const float* w = b.weights + (first * form.depth + from - begin) * taps * block + (c - from) * block + lane;
      const float* x = in + c / Lanes * b.step + pixel * Lanes + c % Lanes;
      for (std::int64_t t = 0; t < taps; ++t, w += (to - from) * block) sum += x[b.taps[t]] * *w;
    }
    out[i] = sum;
    if (finish) (*finish)(out + i, 1);
  }
}

/// Calls redo_nan for the two segments of a tile of `pixels` pixels if a result is NaN; `c` as for the tile, `from`: the
/// first input block of `c.in`.
template <int Lanes>
DICE_INLINED inline void separate_groups(const band& b, std::int64_t first, std::int64_t pixels, const tile_call& c,
                                         std::int64_t from) {
  const std::int64_t of[2] = {first_segment(pixels), second_segment(pixels)};
  vec any[2]{};  // lanes are 0, or NaN where a result is ∞ or NaN
  for (int s = 0; s < 2; ++s)
    for (std::int64_t i = 0; i < of[s] * block; i += width) any[s] = fma(load(c.out[s] + i), vec{}, any[s]);
  if (sum(any[0] + any[1]) == 0) return;
  for (int s = 0; s < 2; ++s) redo_nan<Lanes>(b, first, of[s], c.in[s] - from * c.step, c.out[s], c.finish);
}

/// Computes tiles [begin, end) of `b` for `blocks` blocks of output channels from `first` on. `ahead`: prefetches the input
/// (the hardware prefetcher loses many streams at the end of a page).
template <int Lanes>
void convolve_blocks(const band& b, const tiling& tiles, std::int64_t first, std::int64_t blocks, std::int64_t begin,
                     std::int64_t end, bool ahead) {
  constexpr std::int64_t cache = width == 8 ? 16 * 1024 : 256 * 1024;
  const auto& form = *b.form;
  const auto taps = form.taps(), depth = form.depth * taps * block;
  const auto reads = form.reads(first);
  const bool mixed = reads.size() > form.group_channels;
  const auto first_in = reads.from / Lanes, last_in = (reads.to + Lanes - 1) / Lanes;
  const auto step = b.step;
  const auto most = std::max<std::int64_t>(1, cache / (taps * Lanes * block * blocks * tensor::float_bytes));
  const auto parts = (last_in - first_in + most - 1) / most;
  const float* weights = b.weights + first * depth;
  float* output = b.output + first * b.plane + (b.first_row * form.x.out + b.first_column) * block;
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
                .plane = b.plane,
                .bias = b.bias + first * block,
                .resume = part > 0,
                .finish = part + 1 == parts ? b.finish : nullptr,
                .ahead = ahead};
    tiles.each(begin, end, [&](std::int64_t pixels, segments rows, segments columns, std::int64_t count, bool fetches) {
      for (int s = 0; s < 2; ++s) {
        c.in[s] = b.input + from * step + (rows.at[s] * form.pitch + b.first_column + columns.at[s]) * Lanes;
        c.out[s] = output + (rows.at[s] * form.x.out + columns.at[s]) * block;
      }
      c.count = count;
      c.fetches = fetches;
      tile_of<Lanes>(pixels, blocks)(c);
      if (mixed && c.finish)
        for (std::int64_t i = 0; i < count; ++i) {
          separate_groups<Lanes>(b, first, pixels, c, from);
          for (int s = 0; s < 2; ++s) {
            c.in[s] += pixels * Lanes;
            c.out[s] += pixels * block;
          }
        }
    });
    weights += (std::min(to * Lanes, reads.to) - std::max(from * Lanes, reads.from)) * taps * block;
  }
}

/// Computes the part of a band that belongs to thread `thread` of `threads`.
template <int Lanes> DICE_SHARED void convolve_band(const band& b, std::int64_t thread, std::int64_t threads) {
  const auto& form = *b.form;
  // Rows without a gap between them are one row.
  const bool flat = form.pitch == b.columns && form.x.out == b.columns;
  const tiling tiles(flat ? 1 : b.rows, flat ? b.rows * b.columns : b.columns, tile_pixels<Lanes>);
  const std::int64_t panel = form.groups == 1 ? tile_blocks : 1;  // with groups, blocks may read different channels
  const auto columns = (form.out_blocks() + panel - 1) / panel;
  const auto bytes = b.rows * b.columns * form.in_blocks() * Lanes * tensor::float_bytes;
  auto chunks = form.in_place ? (bytes + large_map - 1) / large_map : 1;
  if (threads > 1) chunks = std::max(chunks, (4 * threads + columns - 1) / columns);
  chunks = std::min(chunks, tiles.size());
  team::share(chunks * columns, thread, threads, [&](std::int64_t u) {
    const auto chunk = u / columns, first = u % columns * panel;
    convolve_blocks<Lanes>(b, tiles, first, std::min(panel, form.out_blocks() - first), tiles.size() * chunk / chunks,
                           tiles.size() * (chunk + 1) / chunks, form.in_place && first == 0 && bytes > large_map);
  });
}

}  // namespace dice::kernels::openmp
