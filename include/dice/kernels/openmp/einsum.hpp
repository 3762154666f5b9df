#pragma once

#include "dice/kernels/detail/operand.hpp"
#include "dice/kernels/openmp/detail/strided.hpp"

#include <cstdint>
#include <utility>

namespace dice::kernels {

template <> struct kernel<openmp::backend, ops::einsum> : openmp::base<ops::einsum> {
  static void compute(const ops::einsum& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    using namespace detail;
    const algorithm::einsum how(op, in, result);
    const int last = result.rank - 1;
    operand a(op, in, c, how.a), b(op, in, c, how.b);
    if (how.copies) b.pack(result, reinterpret_cast<float*>(c.scratch), op.length(in));

    // All axes of the result but those of a tile.
    tensor::shape outer = result;
    if (how.vectors) outer[last] = 1;
    if (how.row >= 0) outer[how.row] = 1;
    const auto rows = how.row >= 0 ? result[how.row] : 1, columns = how.vectors ? result[last] : 1;
    const auto tiles = (rows + tile_rows - 1) / tile_rows;
    std::int64_t pitch[tensor::max_rank];
    for (int o = 0; o < result.rank; ++o) pitch[o] = result.product(o + 1, result.rank);
    const tile all{.y = c.output,
                   .y_row = how.row >= 0 ? pitch[how.row] : 0,
                   .a_row = how.row >= 0 ? a.stride[how.row] : 0,
                   .a_depth = a.depth,
                   .b_depth = b.depth,
                   .depth = op.length(in),
                   .factor = op.factor};
    openmp::parallel_for(outer.elements() * tiles, tile_rows * columns * all.depth,
                         [&](std::int64_t begin, std::int64_t end) {
                           for (auto i = begin; i < end; ++i) {
                             tile t = all;
                             const auto first = i % tiles * tile_rows, count = std::min(rows - first, tile_rows);
                             t.y = c.output + first * t.y_row;
                             t.a = a.at + first * t.a_row;
                             t.b = b.at;
                             for (std::int64_t o = last, rest = i / tiles; o >= 0; --o) {
                               const auto k = rest % outer[static_cast<int>(o)];
                               rest /= outer[static_cast<int>(o)];
                               t.y += k * pitch[o];
                               t.a += k * a.stride[o];
                               t.b += k * b.stride[o];
                             }
                             how.vectors ? t.compute(count, columns) : t.sum_alone();
                             for (std::int64_t r = 0; r < count; ++r) e(t.y + r * t.y_row, columns);
                           }
                         });
  }

 private:
  static constexpr std::int64_t tile_rows = platform::vector_registers >= 32 || detail::pins_products ? 6 : 4;
  static constexpr int tile_vectors = platform::vector_registers >= 32 ? 4 : 2;

  /// An input: elements between neighbours along the axes of the result, and along the axis of the sum.
  struct operand {
    const float* at;
    std::int64_t stride[tensor::max_rank]{}, depth;

    operand(const ops::einsum& op, graph::shapes in, const call& c, int k)
        : at(detail::operand_of(op, c, k)), depth(op.depth_stride(k, in)) {
      for (int o = 0; o < op.rank; ++o) stride[o] = op.stride(k, o, in);
    }
    /// A copy in which elements along the last axis are neighbours.
    void pack(const tensor::shape& result, float* to, std::int64_t length) {
      const int last = result.rank - 1;
      openmp::strided view;
      for (int o = 0; o < last; ++o)
        if (stride[o] != 0) view.push_back(result[o], stride[o]);
      view.push_back(length, depth);
      view.push_back(result[last], stride[last]);
      openmp::gather(to, at, view);
      at = to;
      depth = result[last];
      auto next = length * result[last];
      stride[last] = 1;
      for (int o = last - 1; o >= 0; --o)
        if (stride[o] != 0) {
          stride[o] = next;
          next *= result[o];
        }
    }
  };

  /// Results that share elements of both inputs.
  struct tile {
    float* y;
    const float *a = nullptr, *b = nullptr;
    std::int64_t y_row, a_row, a_depth, b_depth, depth;
    float factor;

    /// One result, summed as one of several is: a part of a layer may have no neighbours.
    void sum_alone() const {
      using namespace detail;
      vec total{};
      for (std::int64_t d = 0; d < depth; ++d) total = fma(splat(a[d * a_depth]), splat(b[d * b_depth]), total);
      *y = total[0] * factor;
    }
    void compute(std::int64_t rows, std::int64_t columns) const {
      [&]<int... R>(std::integer_sequence<int, R...>) {
        static constexpr void (tile::*of_rows[])(std::int64_t) const {&tile::compute<R + 1>...};
        (this->*of_rows[rows - 1])(columns);
      }
      (std::make_integer_sequence<int, tile_rows>{});
    }
    template <int Rows> void compute(std::int64_t columns) const {
      using detail::width;
      std::int64_t x = 0;
      for (; x + tile_vectors * width <= columns; x += tile_vectors * width) block<Rows, tile_vectors>(x, width);
      for (; x + width <= columns; x += width) block<Rows, 1>(x, width);
      if (x < columns) block<Rows, 1>(x, columns - x);
    }
    /// Of the last vector, the first `count` lanes. Every result is summed in the same order, wherever it lies.
    template <int Rows, int Vectors> void block(std::int64_t x, std::int64_t count) const {
      using namespace detail;
      vec sums[Rows][Vectors]{};
      const float *p = a, *q = b + x;
      const bool full = count == width;
      for (std::int64_t d = 0; d < depth; ++d, p += a_depth, q += b_depth) {
        vec from[Vectors];
        DICE_UNROLL
        for (int v = 0; v < Vectors; ++v) from[v] = Vectors > 1 || full ? load(q + v * width) : load_first(q, count);
        DICE_UNROLL
        for (int r = 0; r < Rows; ++r) {
          const vec by = splat(p[r * a_row]);
          DICE_UNROLL
          for (int v = 0; v < Vectors; ++v) {
            if constexpr (pins_products && !multiplies_by_lane) add_product_of(sums[r][v], from[v], by);
            else sums[r][v] = fma(by, from[v], sums[r][v]);
          }
        }
      }
      DICE_UNROLL
      for (int r = 0; r < Rows; ++r) {
        DICE_UNROLL
        for (int v = 0; v < Vectors; ++v) {
          float* to = y + r * y_row + x + v * width;
          Vectors > 1 || full ? store(to, sums[r][v] * factor) : store_first(to, sums[r][v] * factor, count);
        }
      }
    }
  };
};

}  // namespace dice::kernels
