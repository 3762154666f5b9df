// Pooling of blocked tensors: a pixel is a block of channels.
#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

namespace dice::kernels::host {

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
    const auto up = [&](std::int64_t n) { return std::clamp<std::int64_t>((n + dilation - 1) / dilation, 0, kernel); };
    return {up(from - at(o)), std::max(up(from - at(o)), up(to - at(o)))};
  }
  range inside(std::int64_t o) const { return within(o, 0, in); }
  /// How many taps of output o lie in the input, or with `padding` in the padded input.
  std::int64_t counted(std::int64_t o, bool padding) const {
    return (padding ? within(o, -before, in + after) : inside(o)).count();
  }
  /// Outputs all of whose taps lie in the input; none if they are less than `least`.
  range whole(std::int64_t least) const {
    range t{0, out};
    while (t.first < out && at(t.first) < 0) ++t.first;
    while (t.stop > t.first && at(t.stop - 1) + (kernel - 1) * dilation >= in) --t.stop;
    return t.count() < least ? range{0, 0} : t;
  }
};

/// y = finish(join of all elements under the window from `start` on, 1 / how many count or 0), all blocked, and then the
/// epilogue. Join is a function of vectors; with `padding`, elements in the padding count.
template <class Join, class Op, class Finish>
void pool(const Op& op, const tensor::shape& in, const tensor::shape& result, const call& c, const epilogue& e, float start,
          bool padding, const Finish& finish) {
  constexpr Join join;
  constexpr auto block = tensor::block;
  constexpr int together = 4;  // neighbouring outputs
  const bool flat = in.rank == 3;
  const pool_axis y(op, 0, flat ? 1 : in[2], flat ? 1 : result[2]), x(op, 1, in[in.rank - 1], result[in.rank - 1]);
  const auto row = x.out * block;
  const auto whole = x.whole(together);

  parallel_for(in[0] * tensor::blocks(in[1]) * y.out, row * y.kernel * x.kernel, [&](std::int64_t begin, std::int64_t end) {
    for (auto r = begin; r < end; ++r) {
      const auto plane = r / y.out, oy = r % y.out;
      const auto rows = y.inside(oy);
      const auto counted_rows = y.counted(oy, padding);
      float* to = c.output + r * row;
      // Outputs ox, …, ox + N - 1, all from these taps.
      const auto compute = [&]<int N>(std::integral_constant<int, N>, std::int64_t ox, pool_axis::range columns,
                                      std::int64_t counted) {
        const auto n = counted_rows * counted;
        const float scale = n ? 1.0f / static_cast<float>(n) : 0;
        for (int p = 0; p < block; p += width) {
          vec v[N];
          DICE_UNROLL
          for (int i = 0; i < N; ++i) v[i] = splat(start);
          for (auto ky = rows.first; ky < rows.stop; ++ky) {
            const auto line = (plane * y.in + y.at(oy) + ky * y.dilation) * x.in + x.at(ox);
            for (auto kx = columns.first; kx < columns.stop; ++kx) {
              const float* from = c.inputs[0] + (line + kx * x.dilation) * block + p;
              DICE_UNROLL
              for (int i = 0; i < N; ++i) v[i] = join(v[i], load(from + i * x.stride * block));
            }
          }
          DICE_UNROLL
          for (int i = 0; i < N; ++i) store(to + (ox + i) * block + p, finish(v[i], scale));
        }
      };
      const auto edge = [&](std::int64_t ox) {
        compute(std::integral_constant<int, 1>(), ox, x.inside(ox), x.counted(ox, padding));
      };
      for (std::int64_t ox = 0; ox < whole.first; ++ox) edge(ox);
      for (auto ox = whole.first; ox < whole.stop; ox += together)  // the last ones perhaps anew
        compute(std::integral_constant<int, together>(), std::min(ox, whole.stop - together), {0, x.kernel}, x.kernel);
      for (auto ox = whole.stop; ox < x.out; ++ox) edge(ox);
    }
    e(c.output + begin * row, (end - begin) * row);
  });
}

}  // namespace dice::kernels::host
