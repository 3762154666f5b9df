#pragma once

#include "dice/graph/ops/mat_mul.hpp"
#include "dice/tensor/layout.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::algorithm {

/// How the OpenMP backend multiplies a matrix of many rows by a constant one. The weights are packed as (block of columns,
/// depth, column), then the bias; so are bands of rows of the input, as (block of depth, row, depth), in scratch. Both then
/// look like those of a convolution with a window of 1 × 1, and are computed by its register tile.
struct matrix {
  /// Bytes of a band, which stays in the second-level cache while all columns use it; the fewest rows of one.
  static constexpr std::int64_t band_bytes = 1024 * 1024, band_rows = 64;

  std::int64_t rows, columns, depth, band;

  constexpr matrix(const ops::mat_mul& op, const tensor::shape& result)
      : rows(result.elements() / std::max<std::int64_t>(1, op.columns)), columns(op.columns), depth(op.depth) {
    const auto most = std::max(band_rows, band_bytes / std::max<std::int64_t>(1, row_bytes()));
    const auto bands = (rows + most - 1) / most;
    band = (rows + bands - 1) / bands;
  }
  constexpr std::int64_t column_blocks() const { return tensor::blocks(columns); }
  constexpr std::int64_t depth_blocks() const { return tensor::blocks(depth); }
  constexpr std::int64_t row_bytes() const { return depth_blocks() * tensor::block * tensor::float_bytes; }
  constexpr std::int64_t weight_elements() const { return column_blocks() * depth * tensor::block; }
  constexpr std::int64_t packed_bytes() const {
    return (weight_elements() + column_blocks() * tensor::block) * tensor::float_bytes;
  }
  constexpr std::int64_t scratch_bytes() const { return band * row_bytes(); }
};

}  // namespace dice::algorithm
