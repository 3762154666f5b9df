#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

#include <cstdint>

namespace dice::kernels {

namespace openmp {

/// y = exp(x) / Σ exp(x), or its logarithm, over n neighbouring elements.
template <bool Log> void softmax_row(float* y, const float* x, std::int64_t n) {
  const auto full = n / width * width, rest = n - full;
  float top = x[0];
  if (full > 0) {
    vec m = load(x);
    for (std::int64_t i = width; i < full; i += width) m = maximum(m, load(x + i));
    top = largest(m);
  }
  for (auto i = full; i < n; ++i) top = std::max(top, x[i]);
  vec total{};
  for (std::int64_t i = 0; i < full;) {  // sums of partial sums: rounding errors grow more slowly
    vec part{};
    for (const auto stop = std::min(full, i + 64 * width); i < stop; i += width) {
      const vec p = exp(load(x + i) - top);
      if constexpr (!Log) store(y + i, p);
      part += p;
    }
    total += part;
  }
  float all = sum(total);
  if (rest > 0) {
    const vec p = exp(load_first(x + full, rest) - top);
    if constexpr (!Log) store_first(y + full, p, rest);
    for (std::int64_t i = 0; i < rest; ++i) all += p[i];
  }
  if constexpr (Log) {
    const float less = log(all);
    for (std::int64_t i = 0; i < full; i += width) store(y + i, load(x + i) - top - less);
    for (auto i = full; i < n; ++i) y[i] = x[i] - top - less;
    return;
  }
  const float scale = 1.0f / all;
  for (std::int64_t i = 0; i < full; i += width) store(y + i, load(y + i) * scale);
  for (auto i = full; i < n; ++i) y[i] *= scale;
}

/// The same for `lanes` ≤ width columns at once, over n rows that lie `pitch` apart.
template <bool Log> void softmax_columns(float* y, const float* x, std::int64_t n, std::int64_t pitch, std::int64_t lanes) {
  const auto get = [&](const float* p) { return lanes == width ? load(p) : load_first(p, lanes); };
  const auto put = [&](float* p, vec v) { lanes == width ? store(p, v) : store_first(p, v, lanes); };
  vec top = get(x), total{};
  for (std::int64_t i = 1; i < n; ++i) top = maximum(top, get(x + i * pitch));
  for (std::int64_t i = 0; i < n;) {
    vec part{};
    for (const auto stop = std::min(n, i + 64); i < stop; ++i) {
      const vec p = exp(get(x + i * pitch) - top);
      if constexpr (!Log) put(y + i * pitch, p);
      part += p;
    }
    total += part;
  }
  if constexpr (Log) {
    const vec less = log(total);
    for (std::int64_t i = 0; i < n; ++i) put(y + i * pitch, get(x + i * pitch) - top - less);
  } else {
    for (std::int64_t i = 0; i < n; ++i) put(y + i * pitch, get(y + i * pitch) / total);
  }
}

}  // namespace openmp

template <> struct kernel<openmp::backend, ops::softmax> : openmp::base<ops::softmax> {
  static void compute(const ops::softmax& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    op.log ? compute<true>(op, in, c) : compute<false>(op, in, c);
    e(c.output, result.elements());
  }

 private:
  template <bool Log> static void compute(const ops::softmax& op, graph::shapes in, const call& c) {
    using detail::width;
    const auto outer = in[0].product(0, op.first), n = in[0].product(op.first, op.last);
    const auto inner = in[0].product(op.last, in[0].rank);
    const auto blocks = (inner + width - 1) / width;
    openmp::parallel_for(outer * blocks, 8 * n * std::min<std::int64_t>(inner, width),
                         [&](std::int64_t begin, std::int64_t end) {
                           for (auto i = begin; i < end; ++i) {
                             const auto column = i % blocks * width, at = i / blocks * n * inner + column;
                             if (op.last == in[0].rank) openmp::softmax_row<Log>(c.output + at, c.inputs[0] + at, n);
                             else
                               openmp::softmax_columns<Log>(c.output + at, c.inputs[0] + at, n, inner,
                                                            std::min<std::int64_t>(width, inner - column));
                           }
                         });
  }
};

}  // namespace dice::kernels
