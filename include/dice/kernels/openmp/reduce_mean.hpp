#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/openmp/detail/sum.hpp"

#include <cstdint>

namespace dice::kernels {

/// Adjacent axes of one kind (kept or reduced) are merged. If the last is reduced, each output is a sum of its elements;
/// otherwise each vector of outputs is a sum of vectors. A blocked tensor has five axes, of which the pixel axes are
/// reduced.
template <> struct kernel<openmp::backend, ops::reduce_mean> : openmp::base<ops::reduce_mean> {
  static void compute(const ops::reduce_mean& op, graph::shapes in, const tensor::shape&, const call& c,
                      const detail::epilogue& e) {
    using namespace detail;
    tensor::shape joined;
    bool over[tensor::max_rank]{};
    const auto add = [&](std::int64_t extent, bool reduce) {
      if (extent == 1) return;
      if (joined.rank > 0 && over[joined.rank - 1] == reduce) joined[joined.rank - 1] *= extent;
      else over[joined.rank] = reduce, joined.push_back(extent);
    };
    if (c.how.works == algorithm::form::blocked) {
      add(in[0][0] * tensor::blocks(in[0][1]), false), add(in[0].product(2, in[0].rank), true), add(tensor::block, false);
    } else {
      for (int a = 0; a < in[0].rank; ++a) add(in[0][a], op.over[a]);
      if (joined.rank == 0) joined.push_back(1);
    }

    // Kinds alternate: the innermost reduced axis is the last or the one before it.
    const int last = joined.rank - 1, inner = over[last] ? last : last - 1;
    const auto n = inner < 0 ? 1 : joined[inner];
    tensor::shape kept = joined, outer = joined;
    for (int a = 0; a <= last; ++a) (over[a] ? kept : outer)[a] = 1;
    if (inner >= 0) outer[inner] = 1;
    const auto runs = outer.elements(), outputs = kept.elements();
    const auto scale = 1.0f / static_cast<float>(runs * n);
    const auto row = over[last] ? 1 : joined[last];  // outputs of a row
    kept[last] = 1;
    // Sum of f(x) over all runs along the innermost reduced axis of output row i; x is where a run begins.
    const auto each_run = [&](std::int64_t i, auto all, const auto& f) {
      const auto p = position(i, kept);
      for (std::int64_t r = 0; r < runs; ++r) {
        auto q = position(r, outer);
        for (int a = 0; a < last; ++a) q[a] += p[a];
        all += f(c.inputs[0] + offset(q, joined));
      }
      return all;
    };

    if (over[last]) {
      openmp::parallel_for(outputs, runs * n, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i)
          c.output[i] = static_cast<float>(each_run(i, 0.0, [&](const float* x) { return openmp::total(x, n); })) * scale;
      });
    } else {
      const auto parts = (row + width - 1) / width;
      openmp::parallel_for(outputs / row * parts, runs * n * width, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i) {
          const auto column = i % parts * width, count = row - column;
          const vec all = each_run(i / parts, vec{}, [&](const float* x) {
            x += column;
            if (count < width) return openmp::total(n, [&](std::int64_t k) { return load_first(x + k * row, count); });
            return openmp::total(n, [&](std::int64_t k) { return load(x + k * row); });
          });
          float* to = c.output + i / parts * row + column;
          count < width ? store_first(to, all * scale, count) : store(to, all * scale);
        }
      });
    }
    e(c.output, outputs);
  }
};

}  // namespace dice::kernels
