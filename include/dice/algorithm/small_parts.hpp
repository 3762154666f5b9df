// Algorithms of layers of which each device computes a small part: it reads all weights for few results.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/algorithm/chooser.hpp"
#include "dice/algorithm/table.hpp"
#include "dice/algorithm/winograd.hpp"
#include "dice/graph/graph.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace dice::algorithm {

/// Weights of more bytes are read from memory for each frame; fewer may still be in a cache.
inline constexpr std::int64_t cached_bytes = 1 << 20;

/// Estimated time of a convolution or matrix product, in products at full speed, if each of its weights is used for so many
/// results, or tiles of results, and reading one takes as long as `load` products: see winograd::time, without the
/// transforms.
constexpr double products(std::int64_t weight_bytes, std::int64_t uses, double load = winograd::load) {
  return static_cast<double>(weight_bytes) / tensor::float_bytes * std::max(static_cast<double>(uses), load);
}

/// How method M computes an operator of which no part has more than so many rows and columns, if `now` is how it computes
/// the whole result: the variant with which such a part takes least time, if that is clearly less.
template <method M, class Op>
constexpr choice for_parts(const Op& op, graph::shapes in, const tensor::shape& result, const choice& now,
                           const std::array<std::int64_t, 2>& rows_and_columns) {
  if constexpr (requires {
                  requires chooser<M.by>::tunes;
                  chooser<M.by>::variants(op, in);
                }) {
    if (result.rank != 4) return now;
    const auto time = [&](const choice& c) {
      std::int64_t tiles = result[0];
      for (std::size_t k = 0; k < 2; ++k) tiles *= (rows_and_columns[k] + c.tile[k] - 1) / c.tile[k];
      return products(c.packed_bytes, tiles);
    };
    constexpr double gain = 0.8;
    choice best = now;
    double least = gain * time(now);
    for (int v = 0; v < chooser<M.by>::variants(op, in); ++v)
      if (const choice c = chooser<M.by>::variant(op, in, result, v); time(c) < least) {
        best = c;
        least = time(c);
      }
    return best;
  } else {
    return now;
  }
}

}  // namespace dice::algorithm
