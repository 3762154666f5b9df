// Pooling by rows: the rows under a window are joined by vectors into one row with its padding, then that row's windows.
#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

namespace dice::kernels::host {

/// Elements of a joined row; elements behind it that vectors may read.
inline constexpr std::int64_t pool_buffer = 2048, pool_slack = 2 * detail::width;

/// The window of a pooling operator, over a plane of height × width.
struct pool_form {
  std::int64_t height, width, out_height, out_width;
  std::int64_t kernel[2], stride[2], dilation[2], pad[4];  ///< pads: top, left, bottom, right

  template <class Op> pool_form(const Op& op, const tensor::shape& in, const tensor::shape& result) {
    const bool flat = in.rank == 3;
    height = flat ? 1 : in[2], width = in[flat ? 2 : 3];
    out_height = flat ? 1 : result[2], out_width = result[flat ? 2 : 3];
    for (std::size_t i = 0; i < 2; ++i) kernel[i] = op.kernel[i], stride[i] = op.strides[i], dilation[i] = op.dilations[i];
    for (std::size_t i = 0; i < 4; ++i) pad[i] = op.pads[i];
  }
  /// Taps along axis i (0: y, 1: x) of output `o` whose input position lies in [from, to).
  std::int64_t taps(int i, std::int64_t o, std::int64_t from, std::int64_t to) const {
    std::int64_t n = 0;
    for (std::int64_t k = 0; k < kernel[i]; ++k) {
      const auto at = o * stride[i] + k * dilation[i] - pad[i];
      n += at >= from && at < to;
    }
    return n;
  }
};

/// y = the join of all elements under each window, starting from `start`; then done(y, output row, first output column, n)
/// for each part of a row. Join is a binary function of numbers and vectors, `start` neutral to it.
template <class Join, class Done>
void pool(const pool_form& f, std::int64_t planes, const float* input, float* output, float start, const Done& done) {
  constexpr Join join;
  // Output columns per part: their inputs fit the buffer. A window wider than the buffer is taken column by column.
  const auto reach = (f.kernel[1] - 1) * f.dilation[1] + 1;
  const auto part = reach <= pool_buffer ? std::min(f.out_width, (pool_buffer - reach) / f.stride[1] + 1) : 0;

  parallel_for(planes * f.out_height, f.out_width * (f.kernel[0] + f.kernel[1]), [&](std::int64_t begin, std::int64_t end) {
    float row[pool_buffer + pool_slack];
    for (auto i = begin; i < end; ++i) {
      const auto oy = i % f.out_height;
      const float* plane = input + i / f.out_height * f.height * f.width;
      float* to = output + i * f.out_width;
      const auto input_row = [&](std::int64_t ky) -> const float* {
        const auto y = oy * f.stride[0] + ky * f.dilation[0] - f.pad[0];
        return y < 0 || y >= f.height ? nullptr : plane + y * f.width;
      };
      if (part == 0) {
        for (std::int64_t ox = 0; ox < f.out_width; ++ox) {
          to[ox] = start;
          for (std::int64_t ky = 0; ky < f.kernel[0]; ++ky)
            for (std::int64_t kx = 0; kx < f.kernel[1]; ++kx) {
              const auto x = ox * f.stride[1] + kx * f.dilation[1] - f.pad[1];
              if (const float* from = input_row(ky); from && x >= 0 && x < f.width) to[ox] = join(to[ox], from[x]);
            }
        }
        done(to, i, 0, f.out_width);
        continue;
      }
      for (std::int64_t first = 0; first < f.out_width; first += part) {
        const auto n = std::min(part, f.out_width - first);
        // row[j] is input column left + j, all rows of the window joined.
        const auto left = first * f.stride[1] - f.pad[1], size = (n - 1) * f.stride[1] + reach;
        const auto a = std::clamp<std::int64_t>(-left, 0, size), b = std::clamp<std::int64_t>(f.width - left, a, size);
        std::fill_n(row, size + pool_slack, start);
        for (std::int64_t ky = 0; ky < f.kernel[0]; ++ky) {
          const float* from = input_row(ky);
          if (!from) continue;
          from += left;
          auto j = a;
          for (; j + detail::width <= b; j += detail::width) store(row + j, join(load(row + j), load(from + j)));
          for (; j < b; ++j) row[j] = join(row[j], from[j]);
        }
        std::int64_t x = 0;
        if (f.stride[1] <= 2)
          for (; x + detail::width <= n; x += detail::width) {
            vec v = splat(start);
            for (std::int64_t kx = 0; kx < f.kernel[1]; ++kx) {
              const float* p = row + x * f.stride[1] + kx * f.dilation[1];
              v = join(v, f.stride[1] == 1 ? load(p) : load_even(p));
            }
            store(to + first + x, v);
          }
        for (; x < n; ++x) {
          float v = start;
          for (std::int64_t kx = 0; kx < f.kernel[1]; ++kx) v = join(v, row[x * f.stride[1] + kx * f.dilation[1]]);
          to[first + x] = v;
        }
        done(to + first, i, first, n);
      }
    }
  });
}

}  // namespace dice::kernels::host
