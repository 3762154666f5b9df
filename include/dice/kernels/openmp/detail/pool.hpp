// Pooling of blocked tensors: a pixel is a block of channels.
#pragma once

#include "dice/kernels/openmp/detail/base.hpp"
#include "dice/kernels/openmp/detail/products.hpp"

#include <cstdint>

namespace dice::kernels::openmp {

/// One axis of a pooling window.
struct pool_axis {
  std::int64_t in, out;                                  ///< extents of input and output
  std::int64_t kernel, stride, dilation, before, after;  ///< the last two: padding

  template <class Op>
  pool_axis(const Op& op, std::size_t i, std::int64_t input, std::int64_t output)
      : in(input),
        out(output),
        kernel(op.kernel[i]),
        stride(op.strides[i]),
        dilation(op.dilations[i]),
        before(op.pads[i]),
        after(op.pads[i + 2]) {}

  struct range {
    std::int64_t first, stop;
    std::int64_t count() const { return stop - first; }
  };
  /// Input position of output o's first tap.
  std::int64_t at(std::int64_t o) const { return o * stride - before; }
  /// Taps of output o whose positions lie in [from, to).
  range within(std::int64_t o, std::int64_t from, std::int64_t to) const {
    const auto taps = [&](std::int64_t n) {  // in n elements; a division takes longer than a small window
      return std::clamp<std::int64_t>(dilation == 1 ? n : (n + dilation - 1) / dilation, 0, kernel);
    };
    const auto first = taps(from - at(o));
    return {first, std::max(first, taps(to - at(o)))};
  }
  range inside(std::int64_t o) const { return within(o, 0, in); }
  /// How many taps of output o lie in the input, or with `padding` in the padded input.
  std::int64_t counted(std::int64_t o, bool padding) const {
    return (padding ? within(o, -before, in + after) : inside(o)).count();
  }
  /// Outputs all of whose taps lie in the input; none if they are fewer than `least`.
  range whole(std::int64_t least) const {
    range t{0, out};
    while (t.first < out && at(t.first) < 0) ++t.first;
    while (t.stop > t.first && at(t.stop - 1) + (kernel - 1) * dilation >= in) --t.stop;
    return t.count() < least ? range{0, 0} : t;
  }
};

/// v[…][i] = join of v[…][i] and the elements from + i · stride + tap, over `rows` rows of taps. Where taps, stride and
/// dilation are constants, inputs that neighbouring windows share are loaded once.
template <class Join, int N, class Taps, class Stride, class Dilation>
DICE_INLINED inline void join_windows(vec (&v)[together][N], const float* from, std::int64_t rows, std::int64_t row_step,
                                      Taps taps, Stride stride, Dilation dilation) {
  for (std::int64_t r = 0; r < rows; ++r, from += row_step)
    for (std::int64_t k = 0; k < taps; ++k) {
      DICE_UNROLL
      for (int i = 0; i < N; ++i)
        for (int l = 0; l < together; ++l)
          v[l][i] = Join()(v[l][i], load(from + (i * stride + k * dilation) * tensor::block + l * width));
    }
}

/// y = finish(join of `start` and all elements under the window, 1 / the number that count, or 0), all blocked, then the
/// epilogue. Join is a function of vectors; with `padding`, elements in the padding count.
template <class Join, class Op, class Finish>
void pool(const Op& op, const tensor::shape& in, const tensor::shape& result, const call& c, const epilogue& e, float start,
          bool padding, const Finish& finish) {
  using tensor::block;
  constexpr int neighbours = 4;  // neighbouring outputs
  const bool flat = in.rank == 3;
  const pool_axis y(op, 0, flat ? 1 : in[2], flat ? 1 : result[2]), x(op, 1, in[in.rank - 1], result[in.rank - 1]);
  const auto row = x.out * block;
  const auto whole = x.whole(neighbours);

  const auto planes = in[0] * tensor::blocks(in[1]), work = row * y.kernel * x.kernel;
  const auto in_plane = c.plane(0, y.in * x.in * block), out_plane = c.output_plane(y.out * row);
  const bool large = planes * y.in * x.in * block * tensor::float_bytes > large_map;
  parallel_rows(planes, y.out, large, work, [&](std::int64_t plane, std::int64_t begin, std::int64_t end) {
    for (auto oy = begin; oy < end; ++oy) {
      const auto rows = y.inside(oy);
      const auto counted_rows = y.counted(oy, padding);
      const float* from = c.inputs[0] + plane * in_plane + (y.at(oy) + rows.first * y.dilation) * x.in * block;
      float* to = c.output + plane * out_plane + oy * row;
      // Outputs ox, …, ox + N - 1 from `taps` columns from `column` on, of which `counted` count.
      const auto compute = [&]<int N>(std::integral_constant<int, N>, std::int64_t ox, std::int64_t column,
                                      std::int64_t counted, auto taps, auto stride, auto dilation) {
        const auto n = counted_rows * counted;
        const float scale = n ? 1.0f / static_cast<float>(n) : 0;
        for (int p = 0; p < block; p += together_lanes) {
          vec v[together][N];
          DICE_UNROLL
          for (int i = 0; i < N; ++i)
            for (auto& one : v) one[i] = splat(start);
          join_windows<Join>(v, from + column * block + p, rows.count(), y.dilation * x.in * block, taps, stride, dilation);
          DICE_UNROLL
          for (int i = 0; i < N; ++i) {
            for (auto& one : v) one[i] = finish(one[i], scale);
            store_together(to + (ox + i) * block + p, v, i);
          }
        }
      };
      const auto edge = [&](std::int64_t ox) {
        const auto columns = x.inside(ox);
        compute(std::integral_constant<int, 1>(), ox, x.at(ox) + columns.first * x.dilation, x.counted(ox, padding),
                columns.count(), x.stride, x.dilation);
      };
      const auto middle = [&](auto taps, auto stride, auto dilation) {
        for (auto at = whole.first; at < whole.stop; at += neighbours) {
          const auto ox = std::min(at, whole.stop - neighbours);  // the last group may overlap the one before
          compute(std::integral_constant<int, neighbours>(), ox, x.at(ox), x.kernel, taps, stride, dilation);
        }
      };
      for (std::int64_t ox = 0; ox < whole.first; ++ox) edge(ox);
      constexpr std::integral_constant<std::int64_t, 1> one;
      constexpr std::integral_constant<std::int64_t, 2> two;
      constexpr std::integral_constant<std::int64_t, 3> three;
      const auto is = [&](std::int64_t kernel, std::int64_t stride) {
        return x.kernel == kernel && x.stride == stride && x.dilation == 1;
      };
      if (is(2, 2)) middle(two, two, one);
      else if (is(3, 2)) middle(three, two, one);
      else if (is(3, 1)) middle(three, one, one);
      else middle(x.kernel, x.stride, x.dilation);
      for (auto ox = whole.stop; ox < x.out; ++ox) edge(ox);
    }
    e(c.output + plane * out_plane + begin * row, (end - begin) * row);
  });
}

}  // namespace dice::kernels::openmp
