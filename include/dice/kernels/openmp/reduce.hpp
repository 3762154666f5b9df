#pragma once

#include "dice/kernels/detail/index.hpp"
#include "dice/kernels/openmp/detail/sum.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::kernels {

/// Adjacent axes of one kind (kept or reduced) are merged. If the last is reduced, each output is a sum of its elements;
/// otherwise each vector of outputs is a sum of vectors. A blocked tensor has five axes, of which the pixel axes are
/// reduced.
template <> struct kernel<openmp::backend, ops::reduce> : openmp::base<ops::reduce> {
  static void compute(const ops::reduce& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    using graph::arithmetic;
    switch (op.how) {
      case ops::reduction::mean:
      case ops::reduction::total:
        return join<arithmetic::add>(op, in, c, e, [](auto x) { return x; });
      case ops::reduction::total_square:
        return join<arithmetic::add>(op, in, c, e, [](auto x) { return openmp::square(x); });
      case ops::reduction::product:
        return join<arithmetic::mul>(op, in, c, e, [](auto x) { return x; });
      case ops::reduction::largest:
        return join<arithmetic::max>(op, in, c, e, [](auto x) { return x; });
      case ops::reduction::smallest:
        return join<arithmetic::min>(op, in, c, e, [](auto x) { return x; });
      case ops::reduction::arg_max:
        find(op, in[0], c.output, c.inputs[0], [](vec x, vec best) { return x > best; });
        return e(c.output, result.elements());
      case ops::reduction::arg_min:
        find(op, in[0], c.output, c.inputs[0], [](vec x, vec best) { return x < best; });
        return e(c.output, result.elements());
    }
  }

 private:
  using vec = detail::vec;

  /// Joins f(x) of the elements.
  template <graph::arithmetic F, class Of>
  static void join(const ops::reduce& op, graph::shapes in, const call& c, const detail::epilogue& e, const Of& of) {
    using namespace detail;
    constexpr combined<F> joined_with;
    tensor::shape joined;
    bool over[tensor::max_rank]{};
    const auto add = [&](std::int64_t extent, bool reduce) {
      if (extent == 1) return;
      if (joined.rank > 0 && over[joined.rank - 1] == reduce) joined[joined.rank - 1] *= extent;
      else {
        over[joined.rank] = reduce;
        joined.push_back(extent);
      }
    };
    if (c.how.works == algorithm::form::blocked) {
      add(in[0][0] * tensor::blocks(in[0][1]), false);
      add(in[0].product(2, in[0].rank), true);
      add(tensor::block, false);
    } else {
      for (int a = 0; a < in[0].rank; ++a) add(in[0][a], op.over[a]);
      // One column, which may be a part of several, is summed like these.
      if (joined.rank == 0 || (over[joined.rank - 1] && !op.over[in[0].rank - 1])) joined.push_back(1);
    }

    // Kinds alternate: the innermost reduced axis is the last or the one before it.
    const int last = joined.rank - 1, inner = over[last] ? last : last - 1;
    const auto n = inner < 0 ? 1 : joined[inner];
    tensor::shape kept = joined, outer = joined;
    for (int a = 0; a <= last; ++a) (over[a] ? kept : outer)[a] = 1;
    if (inner >= 0) outer[inner] = 1;
    const auto runs = outer.elements(), outputs = kept.elements();
    const auto scale = op.how == ops::reduction::mean ? 1.0f / static_cast<float>(runs * n) : 1.0f;
    const auto row = over[last] ? 1 : joined[last];  // outputs of a row
    kept[last] = 1;
    // f(x) joined over all runs along the innermost reduced axis of output row i; x is where a run begins.
    const auto each_run = [&](std::int64_t i, auto all, const auto& f) {
      const auto p = position(i, kept);
      for (std::int64_t r = 0; r < runs; ++r) {
        auto q = position(r, outer);
        for (int a = 0; a < last; ++a) q[a] += p[a];
        all = joined_with(all, f(c.inputs[0] + offset(q, joined)));
      }
      return all;
    };

    if (over[last]) {
      openmp::parallel_for(outputs, runs * n, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i)
          c.output[i] = static_cast<float>(each_run(i, double{openmp::joining<F>::start},
                                                    [&](const float* x) -> double { return openmp::total<F>(x, n, of); })) *
                        scale;
      });
    } else {
      const auto parts = (row + width - 1) / width;
      openmp::parallel_for(outputs / row * parts, runs * n * width, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i) {
          const auto column = i % parts * width, count = row - column;
          const vec all = each_run(i / parts, splat(openmp::joining<F>::start), [&](const float* x) {
            x += column;
            if (count < width)
              return openmp::total<F>(n, [&](std::int64_t k) { return of(load_first(x + k * row, count)); });
            return openmp::total<F>(n, [&](std::int64_t k) { return of(load(x + k * row)); });
          });
          float* to = c.output + i / parts * row + column;
          count < width ? store_first(to, all * scale, count) : store(to, all * scale);
        }
      });
    }
    e(c.output, outputs);
  }

  /// The index of the element that none beats, in each vector of neighbouring columns.
  template <class Beats>
  static void find(const ops::reduce& op, const tensor::shape& in, float* to, const float* from, const Beats& beats) {
    using namespace detail;
    const int axis = static_cast<int>(std::find(op.over.begin(), op.over.end(), true) - op.over.begin());
    const auto n = in[axis], columns = in.product(axis + 1, in.rank), blocks = (columns + width - 1) / width;
    openmp::parallel_for(in.product(0, axis) * blocks, n * width, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) {
        const auto column = i % blocks * width, count = std::min<std::int64_t>(width, columns - column);
        const float* x = from + i / blocks * n * columns + column;
        const auto get = [&](std::int64_t k) {
          return count == width ? load(x + k * columns) : load_first(x + k * columns, count);
        };
        vec best = get(0), at{};
        for (std::int64_t k = 1; k < n; ++k) {
          const vec v = get(k);
          auto better = beats(v, best) | ((v != v) & (best == best));
          if (op.last_index) better |= v == best;
          best = better ? v : best;
          at = better ? splat(static_cast<float>(k)) : at;
        }
        float* y = to + i / blocks * columns + column;
        count == width ? store(y, at) : store_first(y, at, count);
      }
    });
  }
};

}  // namespace dice::kernels
