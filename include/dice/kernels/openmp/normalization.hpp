#pragma once

#include "dice/kernels/openmp/detail/binary.hpp"
#include "dice/kernels/openmp/detail/sum.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::kernels {

/// Elements that are normalized together are neighbours; or lie in columns, of which as many as a vector holds are
/// normalized at once (also a single column, which may be a part of several); or are the channels of a pixel in blocks.
template <> struct kernel<openmp::backend, ops::normalization> : openmp::base<ops::normalization> {
  static void compute(const ops::normalization& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    using namespace detail;
    if (c.result == tensor::layout::blocked) return channels(op, in[0], c, e);
    const auto n = in[0].product(op.first, op.last), inner = in[0].product(op.last, in[0].rank);
    const auto blocks = (inner + width - 1) / width;
    const float one = 1, zero = 0;
    const float* scale = op.scale ? c.parameters[0] : &one;
    const float* bias = op.bias ? c.parameters[op.scale] : &zero;
    const openmp::broadcast form(op.scale ? op.scale_shape : tensor::shape{}, op.bias ? op.bias_shape : tensor::shape{},
                                 result);
    const auto s_step = form.stride[0][form.rank - 1], b_step = form.stride[1][form.rank - 1];

    // y = (x - mean) · by · scale + bias for elements [begin, end); mean and by have a value for each.
    const auto finish = [&](std::int64_t begin, std::int64_t end, vec mean, vec by) {
      openmp::each_run(form, begin, end, [&](std::int64_t at, std::int64_t count, const std::int64_t* offset) {
        const float *s = scale + offset[0], *b = bias + offset[1], *x = c.inputs[0] + at;
        const vec s0 = splat(*s), b0 = splat(*b);
        float* y = c.output + at;
        std::int64_t i = 0;
        for (; i + width <= count; i += width)
          store(y + i, fma((load(x + i) - mean) * by, s_step ? load(s + i) : s0, b_step ? load(b + i) : b0));
        if (const auto rest = count - i; rest > 0)
          store_first(y + i,
                      fma((load_first(x + i, rest) - mean) * by, s_step ? load_first(s + i, rest) : s0,
                          b_step ? load_first(b + i, rest) : b0),
                      rest);
      });
      e(c.output + begin, end - begin);
    };
    const auto outer = in[0].product(0, op.first);
    openmp::parallel_for(outer * blocks, 8 * n * std::min<std::int64_t>(inner, width),
                         [&](std::int64_t begin, std::int64_t end) {
                           for (auto i = begin; i < end; ++i)
                             op.last == in[0].rank ? row(op, c, i * n, n, finish) : columns(op, c, i, n, inner, finish);
                         });
  }

 private:
  using vec = detail::vec;

  /// What x - mean is multiplied with; `total` is the sum of its squares or magnitudes.
  static vec factor(const ops::normalization& op, vec total, std::int64_t n) {
    using ops::normalizing;
    if (op.how == normalizing::l1 || op.how == normalizing::l2) {
      const vec by = op.how == normalizing::l1 ? total : detail::sqrt(total);
      return 1.0f / (by == 0.0f ? detail::splat(1.0f) : by);
    }
    return 1.0f / detail::sqrt(total / static_cast<float>(n) + op.epsilon);
  }
  template <class T> static T part(const ops::normalization& op, T x) {
    return op.how == ops::normalizing::l1 ? detail::abs(x) : openmp::square(x);
  }

  /// A blocked tensor of whole blocks, some pixels at a time.
  static void channels(const ops::normalization& op, const tensor::shape& in, const call& c, const detail::epilogue& e) {
    constexpr int together = 8;
    const auto pixels = in.product(2, in.rank), parts = (pixels + together - 1) / together;
    openmp::parallel_for(in[0] * parts, 4 * together * in[1], [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) {
        const auto first = i % parts * together, n = std::min<std::int64_t>(together, pixels - first);
        const auto at = (i / parts * in[1] * pixels) + first * tensor::block;
        if (n == together) some_pixels<together>(op, in[1], pixels, c, at, e);
        else
          for (std::int64_t p = 0; p < n; ++p) some_pixels<1>(op, in[1], pixels, c, at + p * tensor::block, e);
      }
    });
  }
  template <int Pixels>
  static void some_pixels(const ops::normalization& op, std::int64_t channels, std::int64_t pixels, const call& c,
                          std::int64_t at, const detail::epilogue& e) {
    using namespace detail;
    const float* const x = c.inputs[0] + at;
    // Calls f(pixel, x's element, its offset from x, its channel).
    const auto each = [&](const auto& f) {
      for (std::int64_t k = 0; k < channels; k += width) {
        const auto offset = k / tensor::block * tensor::block * pixels + k % tensor::block;
        DICE_UNROLL
        for (int p = 0; p < Pixels; ++p) f(p, load(x + offset + p * tensor::block), offset + p * tensor::block, k);
      }
    };
    vec sums[Pixels]{}, mean[Pixels]{}, by[Pixels];
    if (op.centres()) {
      each([&](int p, vec v, std::int64_t, std::int64_t) { sums[p] += v; });
      for (int p = 0; p < Pixels; ++p) {
        mean[p] = splat(sum(sums[p]) / static_cast<float>(channels));
        sums[p] = vec{};
      }
    }
    each([&](int p, vec v, std::int64_t, std::int64_t) { sums[p] += part(op, v - mean[p]); });
    for (int p = 0; p < Pixels; ++p) by[p] = factor(op, splat(sum(sums[p])), channels);
    const float *scale = op.scale ? c.parameters[0] : nullptr, *bias = op.bias ? c.parameters[op.scale] : nullptr;
    const bool each_scale = op.scale_shape.elements() > 1, each_bias = op.bias_shape.elements() > 1;
    const vec s0 = splat(scale ? *scale : 1.0f), b0 = splat(bias ? *bias : 0.0f);
    each([&](int p, vec v, std::int64_t offset, std::int64_t k) {
      const vec s = scale && each_scale ? load(scale + k) : s0, b = bias && each_bias ? load(bias + k) : b0;
      store(c.output + at + offset, fma((v - mean[p]) * by[p], s, b));
    });
    for (std::int64_t k = 0; k < channels; k += tensor::block) e(c.output + at + k * pixels, Pixels * tensor::block);
  }

  template <class Finish>
  static void row(const ops::normalization& op, const call& c, std::int64_t at, std::int64_t n, const Finish& finish) {
    const float* x = c.inputs[0] + at;
    const float mean = op.centres() ? openmp::total(x, n, [](auto v) { return v; }) / static_cast<float>(n) : 0.0f;
    const float total = openmp::total(x, n, [&](auto v) { return part(op, v - mean); });
    finish(at, at + n, detail::splat(mean), factor(op, detail::splat(total), n));
  }

  /// Columns from the one of block i on.
  template <class Finish>
  static void columns(const ops::normalization& op, const call& c, std::int64_t i, std::int64_t n, std::int64_t inner,
                      const Finish& finish) {
    using namespace detail;
    const auto blocks = (inner + width - 1) / width, column = i % blocks * width;
    const auto at = i / blocks * n * inner + column, count = std::min<std::int64_t>(width, inner - column);
    const auto get = [&](std::int64_t k) {
      const float* x = c.inputs[0] + at + k * inner;
      return count == width ? load(x) : load_first(x, count);
    };
    vec mean{};
    if (op.centres()) mean = openmp::total(n, get) / static_cast<float>(n);
    const vec total = openmp::total(n, [&](std::int64_t k) { return part(op, get(k) - mean); });
    const vec by = factor(op, total, n);
    for (std::int64_t k = 0; k < n; ++k) finish(at + k * inner, at + k * inner + count, mean, by);
  }
};

}  // namespace dice::kernels
