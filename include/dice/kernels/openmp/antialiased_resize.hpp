#pragma once

#include "dice/kernels/openmp/detail/base.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::antialiased_resize> : openmp::base<ops::antialiased_resize> {
  static void compute(const ops::antialiased_resize& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    const auto n = in[0][op.axis], m = result[op.axis], taps = op.taps(n, m);
    const auto axis = op.sampled(n, m);
    // Scratch: what each element of the axis reads, and then `taps` weights for each.
    auto* const read = reinterpret_cast<ops::filtered*>(c.scratch);
    auto* const weights = reinterpret_cast<float*>(read + m);
    for (std::int64_t k = 0; k < m; ++k) {
      const auto s = read[k] = ops::filtered_of(axis, static_cast<int>(op.first_out + k));
      float* const w = weights + k * taps;
      float sum = 0;
      for (int t = 0; t < s.count; ++t) sum += w[t] = s.weight(axis, t);
      for (int t = 0; t < s.count; ++t) w[t] /= sum;
    }
    const auto outer = result.product(0, op.axis), inner = result.product(op.axis + 1, result.rank);
    const bool last = op.axis + 1 == result.rank;  // of the whole, too, so that a part has the same bits
    openmp::parallel_for(outer * m, inner * taps, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) {
        const auto& s = read[i % m];
        const float* const w = weights + i % m * taps;
        const float* const from = c.inputs[0] + i / m * n * inner;
        float* const to = c.output + i * inner;
        if (last) {
          float sum = 0;
          for (int t = 0; t < s.count; ++t) sum += w[t] * from[s.at(t, axis.in) - op.first_in];
          *to = sum;
          continue;
        }
        std::fill_n(to, inner, 0.0f);
        for (int t = 0; t < s.count; ++t) {
          const float* const row = from + (s.at(t, axis.in) - op.first_in) * inner;
          for (std::int64_t j = 0; j < inner; ++j) to[j] += w[t] * row[j];
        }
      }
    });
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
