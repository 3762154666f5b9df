// Winograd's convolution, see algorithm::winograd. For each block of tiles all threads first transform the input, a vector
// of channels at a time, and then each multiplies and finishes blocks of output channels.
#pragma once

#include "dice/algorithm/winograd.hpp"
#include "dice/kernels/openmp/detail/convolution.hpp"
#include "dice/kernels/openmp/detail/filter.hpp"
#include "dice/kernels/openmp/detail/parallel.hpp"
#include "dice/kernels/openmp/detail/tile.hpp"
#include "dice/kernels/openmp/stack.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace dice::kernels::openmp {

/// Adjacent tiles that are transformed at once.
inline constexpr std::int64_t tile_run = 8;

/// Tiles that are computed together. Their transformed input is laid out as (point, block of channels, tile, channel).
struct tile_block {
  const algorithm::winograd* form;
  std::int64_t first_row, first_column, rows, columns;  ///< of tiles

  std::int64_t tiles() const { return rows * columns; }
  std::int64_t runs() const { return rows * ((columns + tile_run - 1) / tile_run); }
  /// Adjacent tiles: number of the first in the block, its row and column among the image's tiles, how many there are.
  struct run_of_tiles {
    std::int64_t tile, y, x, count;
  };
  run_of_tiles run(std::int64_t r) const {
    const auto parts = (columns + tile_run - 1) / tile_run;
    const auto y = r / parts, x = r % parts * tile_run;
    return {y * columns + x, first_row + y, first_column + x, std::min(tile_run, columns - x)};
  }
};

/// Transforms vectors `v` of the channels of a run of tiles with filters Y and X. `plane`: elements between the image's
/// blocks of channels; `to`: the block's transformed input.
template <class Y, class X>
DICE_SHARED void transform_input(const tile_block& b, const float* image, std::int64_t plane, std::int64_t v,
                                 std::int64_t run, float* to) {
  constexpr int n = Y::inputs, halo = X::taps - 1;
  constexpr std::int64_t most = tile_run * X::outputs + halo;
  const auto& f = *b.form;
  constexpr int vectors = block / together_lanes;  // of a block
  const auto lane = v % vectors * together_lanes, in_block = v / vectors;
  // Copies: the compiler must assume that the stores below change whatever a reference refers to.
  const auto height = f.height, row = f.width, tiles = b.tiles(), pitch = f.pitch(f.in_blocks(), tiles);
  const auto [tile, tile_y, tile_x, count] = b.run(run);
  const auto columns = count * X::outputs + halo, y = tile_y * Y::outputs - f.top, x = tile_x * X::outputs - f.left;
  const float* p = image + in_block * plane + (y * row + x) * block + lane;
  const bool rows_inside = y >= 0 && y + n <= height;
  alignas(64) float once[n * most * together_lanes];  // columns are transformed once for the tiles that share them
  // On 64-bit ARM by columns, so that a tile's numbers are at constant distances.
  const auto in_once = [](std::int64_t i, std::int64_t j)
                           DICE_INLINED { return (multiplies_by_lane ? j * n + i : i * most + j) * together_lanes; };
  for (std::int64_t j = 0; j < columns; ++j, p += block) {
    vec d[together][n], o[together][n];
    if (x + j < 0 || x + j >= row) {
      DICE_UNROLL
      for (int i = 0; i < n; ++i)
        for (int l = 0; l < together; ++l) d[l][i] = vec{};
    } else if (rows_inside) {
      DICE_UNROLL
      for (int i = 0; i < n; ++i) load_together(p + i * row * block, d, i);
    } else {
      DICE_UNROLL
      for (int i = 0; i < n; ++i) {
        for (int l = 0; l < together; ++l) d[l][i] = vec{};
        if (y + i >= 0 && y + i < height) load_together(p + i * row * block, d, i);
      }
    }
    for (int l = 0; l < together; ++l) Y::input(d[l], o[l]);
    if constexpr (multiplies_by_lane)
      unrolled<n>([&](auto i) DICE_INLINED { store_together<i * together_lanes>(once + in_once(0, j), o, i); });
    else DICE_UNROLL
    for (int i = 0; i < n; ++i) store_together(once + in_once(i, j), o, i);
  }
  float* out = to + (in_block * tiles + tile) * block + lane;
  for (std::int64_t t = 0; t < count; ++t, out += block) {
    float* point = out;
#pragma GCC unroll 1
    for (int i = 0; i < n; ++i) {
      vec d[together][X::inputs], o[together][X::inputs];
      if constexpr (multiplies_by_lane) {  // four columns at a time: an instruction has few bits for distances
        const float* const from[] = {once + in_once(i, t * X::outputs), once + in_once(i, t * X::outputs + 4)};
        unrolled<X::inputs>([&](auto j) DICE_INLINED { load_together<j % 4 * n * together_lanes>(from[j / 4], d, j); });
      } else {
        DICE_UNROLL
        for (int j = 0; j < X::inputs; ++j) load_together(once + in_once(i, t * X::outputs + j), d, j);
      }
      for (int l = 0; l < together; ++l) X::input(d[l], o[l]);
      DICE_UNROLL
      for (int j = 0; j < X::inputs; ++j, point += pitch) store_together(point, o, j);
    }
  }
}

/// Transforms tiles [begin, end) of vectors of output channels back and finishes them. `sums`: those of tile `begin`,
/// points `pitch` apart; `output`: the image's plane of that block of channels; all pointers are at the vector's lanes.
template <class Y, class X>
DICE_SHARED void transform_output(const tile_block& b, std::int64_t begin, std::int64_t end, const float* sums,
                                  std::ptrdiff_t pitch, const float* bias, float* output, const epilogue& e) {
  constexpr int m = X::outputs;
  const auto& f = *b.form;
  vec start[together][1];
  load_together(bias, start, 0);
  const auto height = f.out_height, row = f.out_width;  // copies, as above
  const auto tile_columns = b.columns, first_x = b.first_column * m;
  const std::ptrdiff_t to_residual = e.residual && e.bounds.exact ? e.residual_at(output) - output : 0;
  const auto first_row = begin / tile_columns;
  with_activation(e, [&](const auto& activation) DICE_INLINED {
    auto y = (b.first_row + first_row) * Y::outputs;
    auto tile_x = begin - first_row * tile_columns;
    const float* from = sums;
    for (auto t = begin; t < end; ++t, from += block) {
      vec once[Y::outputs][X::inputs][together];
      const float* point = from;
#pragma GCC unroll 1
      for (int j = 0; j < X::inputs; ++j, point += pitch) {
        vec d[together][Y::inputs], o[together][Y::outputs];
        DICE_UNROLL
        for (int i = 0; i < Y::inputs; ++i) load_together(point + i * X::inputs * pitch, d, i);
        for (int l = 0; l < together; ++l) Y::output(d[l], o[l]);
        DICE_UNROLL
        for (int i = 0; i < Y::outputs; ++i)
          for (int l = 0; l < together; ++l) once[i][j][l] = o[l][i];
      }
      const auto output_row = [&](std::int64_t i, vec(&o)[together][m]) DICE_INLINED {
        vec d[together][X::inputs];
        DICE_UNROLL
        for (int j = 0; j < X::inputs; ++j)
          for (int l = 0; l < together; ++l) d[l][j] = once[i][j][l];
        for (int l = 0; l < together; ++l) X::output(d[l], o[l]);
      };
      const auto tile_row = y, x = first_x + tile_x * m;
      const auto rows = std::min<std::int64_t>(Y::outputs, height - y), columns = std::min<std::int64_t>(m, row - x);
      if (++tile_x == tile_columns) {
        tile_x = 0;
        y += Y::outputs;
      }
      if constexpr (Y::outputs % 2 == 0 && m % 2 == 0)
        if (e.pools_2x2) {
          float* to = output + (tile_row / 2 * (row / 2) + x / 2) * block;
          for (std::int64_t i = 0; i + 1 < rows; i += 2, to += row / 2 * block) {
            vec o[2][together][m];
            output_row(i, o[0]);
            output_row(i + 1, o[1]);
            DICE_UNROLL
            for (int j = 0; j < m; j += 2)
              if (j + 1 < columns)
                for (int l = 0; l < together; ++l) {
                  const vec most = larger(larger(o[0][l][j], o[0][l][j + 1]), larger(o[1][l][j], o[1][l][j + 1]));
                  store(to + j / 2 * block + l * width, activation(most + start[l][0]));
                }
            finish_pixels(e, to, static_cast<int>(columns / 2), together_lanes);
          }
          continue;
        }
      float* to = output + (tile_row * row + x) * block;
      for (std::int64_t i = 0; i < rows; ++i, to += row * block) {
        vec o[together][m];
        output_row(i, o);
        const auto put = [&](std::int64_t j) DICE_INLINED {
          for (int l = 0; l < together; ++l) {
            vec v = o[l][j] + start[l][0];
            if (to_residual) v += load(to + j * block + l * width + to_residual);
            store(to + j * block + l * width, activation(v));
          }
        };
        if (multiplies_by_lane && columns == m) {
          for (int l = 0; l < together; ++l) DICE_UNROLL
          for (int j = 0; j < m; ++j) o[l][j] += start[l][0];
          if (to_residual)
            unrolled<m>([&](auto j) DICE_INLINED {
              vec more[together][1];
              load_together<j * block>(to + to_residual, more, 0);
              for (int l = 0; l < together; ++l) o[l][j] += more[l][0];
            });
          unrolled<m>([&](auto j) DICE_INLINED {
            for (int l = 0; l < together; ++l) o[l][j] = activation(o[l][j]);
            store_together<j * block>(to, o, j);
          });
        } else if (columns == m) {
          DICE_UNROLL
          for (int j = 0; j < m; ++j) put(j);
        } else {
          for (std::int64_t j = 0; j < columns; ++j) put(j);
        }
        finish_pixels(e, to, static_cast<int>(columns), together_lanes);
      }
    }
  });
}

/// What the threads share when they multiply.
struct winograd_product {
  const float *transformed, *weights, *bias;
  float* image;
  std::int64_t plane;  ///< elements between the output's blocks of channels
  const epilogue* finish;
};

/// Multiplies tiles [begin, end) of a block by the weights of `blocks` blocks of output channels from `first` on, and
/// finishes the results.
template <class Y, class X>
void multiply_blocks(const tile_block& b, const winograd_product& w, std::int64_t begin, std::int64_t end,
                     std::int64_t first, std::int64_t blocks) {
  constexpr int points = Y::inputs * X::inputs;
  alignas(64) float sums[points * algorithm::winograd::pitch(tile_blocks, algorithm::winograd::max_tiles)];
  static_assert(sizeof sums + (64 << 10) <= team::least_stack);
  const auto& f = *b.form;
  const auto step = b.tiles() * block, plane = (end - begin) * block;
  const auto from = f.pitch(f.in_blocks(), b.tiles()), to = f.pitch(blocks, end - begin);  // points
  const tiling strips(1, end - begin, tile_pixels<block>);
  const std::ptrdiff_t zero = 0;
  for (std::int64_t p = 0; p < points; ++p) {
    tile_call c{.in = {},
                .in_blocks = f.in_blocks(),
                .step = step,
                .last = static_cast<int>((f.channels - 1) % block) + 1,
                .taps = &zero,
                .tap_count = 1,
                .weights = w.weights + (first * points + p) * f.channels * block,
                .depth = points * f.channels * block,
                .out = {},
                .plane = plane};
    strips.each(0, strips.size(), [&](std::int64_t pixels, segments, segments columns, std::int64_t count, bool fetches) {
      for (int s = 0; s < 2; ++s) {
        c.in[s] = w.transformed + p * from + (begin + columns.at[s]) * block;
        c.out[s] = sums + p * to + columns.at[s] * block;
      }
      c.count = count;
      c.fetches = fetches;
      tile_of<block>(pixels, blocks)(c);
    });
  }
  for (std::int64_t o = 0; o < blocks; ++o)
    for (int lane = 0; lane < block; lane += together_lanes)
      transform_output<Y, X>(b, begin, end, sums + o * plane + lane, to, w.bias + (first + o) * block + lane,
                             w.image + (first + o) * w.plane + lane, *w.finish);
}

/// One thread's part of the convolution. As many blocks of tiles as possible are each computed by one thread from start to
/// end, since data that another thread wrote arrives slowly if the two share no cache. All threads compute each remaining
/// block together, kept in step by barriers.
template <class Y, class X>
DICE_SHARED void winograd_part(const algorithm::winograd& f, const call& c, std::int64_t thread, std::int64_t threads,
                               const epilogue& e) {
  const float* weights = reinterpret_cast<const float*>(c.packed);
  float* scratch = reinterpret_cast<float*>(c.scratch);
  const auto plane = c.output_plane(output_pixels(f.out_height, f.out_width, e) * block);
  const auto in_plane = c.plane(0, f.height * f.width * block);
  const auto panels = (f.out_blocks() + tile_blocks - 1) / tile_blocks;
  const auto w = window_of(c, e, f.out_height, f.out_width);
  const auto over = [](std::int64_t n, std::int64_t by) { return (n + by - 1) / by; };
  const auto top = w.top / Y::outputs, bottom = over(w.bottom, Y::outputs),  // tiles
      left = w.left / X::outputs, right = over(w.right, X::outputs);
  const auto across = over(right - left, f.block_columns), in_image = over(bottom - top, f.block_rows) * across,
             all = f.images * in_image;
  const auto tiles_of = [&](std::int64_t n) {
    const auto y = top + n % in_image / across * f.block_rows, x = left + n % across * f.block_columns;
    return tile_block{&f, y, x, std::min(f.block_rows, bottom - y), std::min(f.block_columns, right - x)};
  };
  const auto transform = [&](const tile_block& b, std::int64_t n, std::int64_t u, float* to) {
    const float* image = c.inputs[0] + n / in_image * f.in_blocks() * in_plane;
    transform_input<Y, X>(b, image, in_plane, u / b.runs(), u % b.runs(), to);
  };
  const auto multiply = [&](const tile_block& b, std::int64_t n, std::int64_t panel, std::int64_t begin, std::int64_t end,
                            const float* transformed) {
    const winograd_product p{
        transformed, weights, weights + f.weight_elements(), c.output + n / in_image * f.out_blocks() * plane, plane, &e};
    const auto first = panel * tile_blocks;
    multiply_blocks<Y, X>(b, p, begin, end, first, std::min<std::int64_t>(tile_blocks, f.out_blocks() - first));
  };
  const auto transforms = [&](const tile_block& b) { return f.in_blocks() * (block / together_lanes) * b.runs(); };

  const auto own = threads > 1 && threads <= f.spaces() ? all / threads * threads : 0;
  team::share(own, thread, threads, [&](std::int64_t n) {
    const auto b = tiles_of(n);
    float* transformed = scratch + thread * f.space();
    for (std::int64_t u = 0; u < transforms(b); ++u) transform(b, n, u, transformed);
    for (std::int64_t p = 0; p < panels; ++p) multiply(b, n, p, 0, b.tiles(), transformed);
  });
  for (auto n = own; n < all; ++n) {
    const auto b = tiles_of(n);
    if (n > 0) team::barrier();
    team::share(transforms(b), thread, threads, [&](std::int64_t u) { transform(b, n, u, scratch); });
    team::barrier();
    // If there are few blocks of output channels, or a number that leaves threads idle, their tiles are divided, too.
    const auto most = (b.tiles() + tile_pixels<block> - 1) / tile_pixels<block>;
    std::int64_t parts = 1;
    while (parts < most && panels * parts % threads != 0 && panels * parts < 4 * threads) ++parts;
    team::share(panels * parts, thread, threads, [&](std::int64_t u) {
      const auto part = u % parts;
      multiply(b, n, u / parts, b.tiles() * part / parts, b.tiles() * (part + 1) / parts, scratch);
    });
  }
}

/// Calls f.template operator()<Y, X>() with the filters of `w`, whose window is Height × Width.
template <int Height, int Width, class F> void with_filters(const algorithm::winograd& w, const F& f) {
  const auto call = [&]<int Pairs>() { f.template operator()<filter<Pairs, Height>, filter<Pairs, Width>>(); };
  if constexpr (Height == 3 && Width == 3) {
    if (w.pairs == 1) return call.template operator()<1>();
    if (w.pairs == 2) return call.template operator()<2>();
    call.template operator()<3>();
  } else {
    call.template operator()<algorithm::winograd::min_pairs({Height, Width})>();
  }
}

/// The convolution `f` by all threads, or the part of it that is called for, whose bounds are between tiles.
template <int Height, int Width> void convolve_winograd(const algorithm::winograd& f, const call& c, const epilogue& e) {
  const auto work = f.weight_elements() / width * f.rows * f.columns;
  team::run(threads_for(work, work), [&](std::int64_t t, std::int64_t n) {
    with_filters<Height, Width>(f, [&]<class Y, class X>() { winograd_part<Y, X>(f, c, t, n, e); });
  });
}

/// Transforms weights (out_channels, channels, kh, kw) in double precision, a block of output channels at a time; pads the
/// bias.
template <int Height, int Width>
void transform_weights(const algorithm::winograd& f, floats from, bool with_bias, float* to) {
  using doubles = double __attribute__((vector_size(block * sizeof(double))));
  using floats = float __attribute__((vector_size(block * sizeof(float))));
  with_filters<Height, Width>(f, [&]<class Y, class X>() {
    static constexpr auto rows = Y::weights();
    static constexpr auto columns = X::weights();
    for (std::int64_t b = 0; b < f.out_blocks(); ++b) {
      const auto there = std::min<std::int64_t>(block, f.out_channels - b * block);
      for (std::int64_t c = 0; c < f.channels; ++c) {
        doubles taps[Y::taps][X::taps] = {}, once[X::taps];
        for (std::int64_t o = 0; o < there; ++o) {
          const float* own = from[0] + ((b * block + o) * f.channels + c) * Y::taps * X::taps;
          for (int y = 0; y < Y::taps; ++y)
            for (int x = 0; x < X::taps; ++x) taps[y][x][o] = own[y * X::taps + x];
        }
        for (int i = 0; i < Y::inputs; ++i) {
          for (int x = 0; x < X::taps; ++x) {
            once[x] = doubles{};
            for (int y = 0; y < Y::taps; ++y) once[x] += rows[i][y] * taps[y][x];
          }
          for (int j = 0; j < X::inputs; ++j) {
            doubles sum{};
            for (int x = 0; x < X::taps; ++x) sum += once[x] * columns[j][x];
            const auto packed = __builtin_convertvector(sum, floats);
            const auto point = b * f.points() + i * X::inputs + j;
            __builtin_memcpy(to + (point * f.channels + c) * block, &packed, sizeof packed);
          }
        }
      }
    }
  });
  for (std::int64_t o = 0; o < f.out_blocks() * block; ++o)
    to[f.weight_elements() + o] = with_bias && o < f.out_channels ? from[1][o] : 0;
}

}  // namespace dice::kernels::openmp
