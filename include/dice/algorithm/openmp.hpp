#pragma once

#include "dice/algorithm/chooser.hpp"
#include "dice/algorithm/convolution.hpp"
#include "dice/algorithm/einsum.hpp"
#include "dice/algorithm/forms.hpp"
#include "dice/algorithm/matrix.hpp"
#include "dice/algorithm/winograd.hpp"
#include "dice/graph/graph.hpp"

#include <concepts>
#include <cstdint>

namespace dice::algorithm {

/// Whether the kernel of Op can read and write bands of rows of larger tensors (choice::pitched).
template <class Op>
inline constexpr bool is_pitched =
    std::same_as<Op, ops::conv> || std::same_as<Op, ops::max_pool> || std::same_as<Op, ops::average_pool> ||
    std::same_as<Op, ops::slice> || std::same_as<Op, ops::concat>;

/// How the OpenMP backend computes `op`: without packed weights and scratch where no overload says otherwise.
template <class Op> constexpr choice choose_openmp(const Op& op, graph::shapes in, const tensor::shape& result) {
  return {.works = form_of(op, in, result), .converts = true, .pitched = is_pitched<Op>};
}

/// Scratch for what each column of the result reads.
constexpr choice choose_openmp(const ops::resize& op, graph::shapes in, const tensor::shape& result) {
  const auto bytes = op.mode == ops::resizing::repeat ? 0 : result[result.rank - 1] * std::int64_t{sizeof(ops::samples)};
  return {.scratch_bytes = bytes, .works = form_of(op, in, result), .converts = true};
}

/// Scratch for what each element of the axis reads, and for the weights.
constexpr choice choose_openmp(const ops::antialiased_resize& op, graph::shapes in, const tensor::shape& result) {
  const auto extent = result[op.axis];
  const auto bytes = std::int64_t{sizeof(ops::filtered)} + op.taps(in[0][op.axis], extent) * std::int64_t{sizeof(float)};
  return {.scratch_bytes = extent * bytes, .converts = true};
}

/// Scratch for the copy of an input.
constexpr choice choose_openmp(const ops::einsum& op, graph::shapes in, const tensor::shape& result) {
  return {.scratch_bytes = einsum(op, in, result).scratch_bytes(op, in), .converts = true};
}

/// Packed weights, and scratch for packed rows.
constexpr choice choose_openmp(const ops::mat_mul& op, graph::shapes, const tensor::shape& result) {
  const matrix m(op, result);
  return {.packed_bytes = m.packed_bytes(), .scratch_bytes = m.scratch_bytes(), .converts = true};
}

/// Variants that the OpenMP backend has for `op`: 0 … n - 1, of which 0 has the smallest weights.
template <class Op> constexpr int variants_openmp(const Op&, graph::shapes) { return 1; }
template <class Op> constexpr choice variant_openmp(const Op& op, graph::shapes in, const tensor::shape& result, int) {
  return choose_openmp(op, in, result);
}

/// The direct convolution, and the sizes of Winograd's algorithm.
constexpr int variants_openmp(const ops::conv& op, graph::shapes in) { return 1 + winograd::sizes(op, in[0]); }
constexpr choice variant_openmp(const ops::conv& op, graph::shapes in, const tensor::shape& result, int variant) {
  const convolution direct(op, in[0], result);
  // Only for images whose rows the kernel knows, and tiles of even extents; the same for all variants of a convolution.
  const bool pools_2x2 = in[0].rank == 4 && !direct.depthwise && direct.y.out == result[2] && direct.x.out == result[3] &&
                         ((variant == 0 && winograd::sizes(op, in[0]) == 0) || op.kernel[0] == op.kernel[1]);
  if (variant > 0) {
    const winograd w(variant, op, in[0], result);
    return {.packed_bytes = w.packed_bytes(),
            .scratch_bytes = w.scratch_bytes(),
            .works = form::blocked,
            .converts = true,
            .variant = variant,
            .pools_2x2 = pools_2x2,
            .pitched = true,
            .tile = {static_cast<std::int8_t>(w.y.outputs), static_cast<std::int8_t>(w.x.outputs)},
            .block = {static_cast<std::int16_t>(w.block_rows * w.y.outputs),
                      static_cast<std::int16_t>(w.block_columns * w.x.outputs)}};
  }
  return {.packed_bytes = direct.packed_bytes(),
          .scratch_bytes = direct.scratch_bytes(),
          .works = direct.plain ? form::first : form::blocked,
          .converts = true,
          .pools_2x2 = pools_2x2,
          .pitched = true,
          .block = direct.rows_and_columns(result)};
}

constexpr choice choose_openmp(const ops::conv& op, graph::shapes in, const tensor::shape& result) {
  return variant_openmp(op, in, result, winograd::best(op, in[0], result).variant);
}

template <> struct chooser<backend::openmp> {
  static constexpr bool tunes = true;

  template <class Op>
  static constexpr choice choose(const Op& op, graph::shapes in, const tensor::shape& result, platform::numbers) {
    return choose_openmp(op, in, result);
  }
  template <class Op> static constexpr int variants(const Op& op, graph::shapes in) { return variants_openmp(op, in); }
  template <class Op>
  static constexpr choice variant(const Op& op, graph::shapes in, const tensor::shape& result, int number) {
    return variant_openmp(op, in, result, number);
  }
};

}  // namespace dice::algorithm
