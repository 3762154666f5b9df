#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/openmp/detail/base.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::resize> : openmp::base<ops::resize> {
  /// to[factor x + k] = from[x] for k < factor, of Lanes neighbouring elements each. Constants become vector instructions.
  template <std::int64_t Lanes, class Factor>
  static void spread(float* to, const float* from, std::int64_t n, Factor factor) {
    for (std::int64_t x = 0; x < n; ++x)
      for (std::int64_t k = 0; k < factor; ++k)
        for (std::int64_t i = 0; i < Lanes; ++i) to[(x * factor + k) * Lanes + i] = from[x * Lanes + i];
  }

  template <std::int64_t Lanes>
  static void enlarge(const ops::resize& op, const tensor::shape& in, const tensor::shape& result, const call& c) {
    const int last = result.rank - 1;
    const std::int64_t columns = last < 0 ? 1 : in[last], factor = last < 0 ? 1 : op.factors[last];
    tensor::shape rows = result;
    if (last >= 0) rows[last] = 1;

    openmp::parallel_for(rows.elements(), columns * factor * Lanes, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; ++row) {
        auto p = detail::position(row, rows);
        for (int a = 0; a < last; ++a) p[a] /= op.factors[a];
        float* to = c.output + row * columns * factor * Lanes;
        const float* from = c.inputs[0] + detail::offset(p, in) * Lanes;
        if (factor == 2) spread<Lanes>(to, from, columns, std::integral_constant<std::int64_t, 2>());
        else spread<Lanes>(to, from, columns, factor);
      }
    });
  }

  /// The elements of the input that one element of the result reads along all axes but the last: their offsets and weights.
  struct combination {
    static constexpr int all = 256;  ///< four samples of each axis that is interpolated
    static_assert(ops::resize::most_axes == 4);
    int count = 1;
    std::int64_t offset[all]{};
    float weight[all]{1};
    bool beyond = false;

    void add(const ops::samples& s, const ops::sampled_axis& axis, std::int64_t first, std::int64_t extent) {
      beyond = beyond || s.beyond;
      const int before = count;
      for (int k = s.count - 1; k >= 0; --k)
        for (int i = 0; i < before; ++i) {
          offset[k * before + i] = offset[i] * extent + s.at(k, axis.in) - first;
          weight[k * before + i] = weight[i] * s.weight[k];
        }
      count *= s.count;
    }
  };

  /// Interpolates; the samples of the last axis are in scratch.
  template <std::int64_t Lanes>
  static void interpolate(const ops::resize& op, const tensor::shape& in, const tensor::shape& result, const call& c) {
    const int last = result.rank - 1;
    const auto columns = result[last];
    auto* const taps = reinterpret_cast<ops::samples*>(c.scratch);
    const auto across = op.axis(last, in, result);
    for (std::int64_t x = 0; x < columns; ++x) taps[x] = ops::samples_of(across, static_cast<int>(op.first_out[last] + x));
    tensor::shape rows = result;
    rows[last] = 1;
    openmp::parallel_for(rows.elements(), columns * Lanes * 4, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; ++row) {
        const auto p = detail::position(row, rows);
        combination down;
        for (int a = 0; a < last; ++a) {
          const auto axis = op.axis(a, in, result);
          down.add(ops::samples_of(axis, static_cast<int>(op.first_out[a] + p[a])), axis, op.first_in[a], in[a]);
        }
        float* to = c.output + row * columns * Lanes;
        for (std::int64_t x = 0; x < columns; ++x, to += Lanes) {
          const auto& s = taps[x];
          if (down.beyond || s.beyond) {
            std::fill_n(to, Lanes, op.extrapolation);
            continue;
          }
          std::array<float, Lanes> y{};
          for (int k = 0; k < s.count; ++k) {
            const auto column = s.at(k, across.in) - op.first_in[last];
            for (int i = 0; i < down.count; ++i) {
              const float w = down.weight[i] * s.weight[k];
              const float* from = c.inputs[0] + (down.offset[i] * in[last] + column) * Lanes;
              for (std::int64_t lane = 0; lane < Lanes; ++lane) y[lane] += w * from[lane];
            }
          }
          std::copy_n(y.data(), Lanes, to);
        }
      }
    });
  }

  template <std::int64_t Lanes>
  static void compute_in(const ops::resize& op, const tensor::shape& in, const tensor::shape& result, const call& c) {
    if (op.mode == ops::resizing::repeat) enlarge<Lanes>(op, in, result, c);
    else interpolate<Lanes>(op, in, result, c);
  }

  static void compute(const ops::resize& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    if (c.result == tensor::layout::blocked) {  // like a plain tensor whose elements are blocks of sixteen
      const auto of_blocks = [](tensor::shape s) {
        s[1] = tensor::blocks(s[1]);
        return s;
      };
      compute_in<tensor::block>(op, of_blocks(in[0]), of_blocks(result), c);
    } else {
      compute_in<1>(op, in[0], result, c);
    }
    e(c.output, tensor::elements(result, c.result));
  }
};

}  // namespace dice::kernels
