#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/openmp/detail/sum.hpp"

namespace dice::kernels {

/// Neighbouring axes of one kind (kept or reduced) are joined. If the last is reduced, each output is a sum of rows' sums;
/// else each row of outputs is a sum of rows.
template <> struct kernel<openmp, ops::reduce_mean> : host::base<ops::reduce_mean> {
  static void compute(const ops::reduce_mean& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    using namespace detail;
    tensor::shape joined;
    bool over[tensor::max_rank]{};
    for (int a = 0; a < in[0].rank; ++a) {
      if (in[0][a] == 1) continue;
      const bool reduce = op.over[static_cast<std::size_t>(a)];
      if (joined.rank > 0 && over[joined.rank - 1] == reduce) joined[joined.rank - 1] *= in[0][a];
      else over[joined.rank] = reduce, joined.push_back(in[0][a]);
    }
    if (joined.rank == 0) joined.push_back(1);

    const int last = joined.rank - 1;
    const auto row = joined[last];
    tensor::shape kept = joined, reduced = joined;
    for (int a = 0; a <= last; ++a) (over[a] ? kept : reduced)[a] = 1;
    kept[last] = reduced[last] = 1;
    const auto rows = reduced.elements();
    const auto scale = 1.0f / static_cast<float>(over[last] ? rows * row : rows);
    // Calls f(row of the input) for each row that is reduced into output (or row of outputs) i.
    const auto each_row = [&](std::int64_t i, auto f) {
      const auto p = position(i, kept);
      for (std::int64_t r = 0; r < rows; ++r) {
        auto q = position(r, reduced);
        for (int a = 0; a < last; ++a) q[a] += p[a];
        f(c.inputs[0] + offset(q, joined));
      }
    };

    if (over[last]) {
      host::parallel_for(kept.elements(), rows * row, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i) {
          double all = 0;
          each_row(i, [&](const float* x) { all += host::total(x, row); });
          c.output[i] = static_cast<float>(all) * scale;
        }
      });
    } else {
      const auto blocks = (row + width - 1) / width;
      host::parallel_for(kept.elements() * blocks, rows * width, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i) {
          const auto column = i % blocks * width, n = std::min<std::int64_t>(width, row - column);
          vec all{}, part{};  // sums of sums: rounding errors grow less
          int count = 0;
          each_row(i / blocks, [&](const float* x) {
            part += n == width ? load(x + column) : load_first(x + column, n);
            if (++count % 64 == 0) all += part, part = vec{};
          });
          all += part;
          float* to = c.output + i / blocks * row + column;
          n == width ? store(to, all * scale) : store_first(to, all * scale, n);
        }
      });
    }
    e(c.output, result.elements());
  }
};

}  // namespace dice::kernels
