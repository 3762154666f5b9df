// Borders before interiors: ranks first compute and send what other ranks wait for.
#pragma once

#include "dice/tensor/region.hpp"
#include "dice/tensor/shape.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::schedule {

/// Divides an image into its borders, of whole blocks, and its interior, which is computed last.
class borders {
 public:
  /// Blocks have `rows` × `columns` elements each, but for the last ones.
  constexpr borders(const tensor::shape& image, std::int64_t rows, std::int64_t columns)
      : all_(tensor::whole(image)), interior_(all_), block_{rows, columns} {}

  /// Lets a border cover region `wanted`, unless nothing would remain of the interior.
  constexpr void add(const tensor::region& wanted) {
    if (tensor::empty(tensor::intersect(interior_, wanted))) return;
    auto best = interior_;
    std::int64_t most = 0;  // what remains
    for (const int k : {0, 1}) {
      const int axis = rows_axis + k;
      const auto up = [&](std::int64_t n) { return std::min((n + block_[k] - 1) / block_[k] * block_[k], all_.end[axis]); };
      for (const bool begins : {true, false}) {
        auto rest = interior_;
        if (begins) rest.begin[axis] = std::max(rest.begin[axis], up(wanted.end[axis]));
        else rest.end[axis] = std::min(rest.end[axis], wanted.begin[axis] / block_[k] * block_[k]);
        if (!tensor::empty(rest) && area(rest) > most) {
          best = rest;
          most = area(rest);
        }
      }
    }
    interior_ = best;
  }

  /// Calls f(region) for each border, in the order in which they are computed, then for the interior.
  template <class F> constexpr void each(const F& f) const {
    auto rest = all_;
    for (const int axis : {rows_axis, rows_axis + 1}) {
      auto first = rest, last = rest;
      first.end[axis] = rest.begin[axis] = interior_.begin[axis];
      last.begin[axis] = rest.end[axis] = interior_.end[axis];
      if (!tensor::empty(first)) f(first);
      if (!tensor::empty(last)) f(last);
    }
    f(interior_);
  }

 private:
  static constexpr int rows_axis = 2;
  static constexpr std::int64_t area(const tensor::region& r) {
    return (r.end[rows_axis] - r.begin[rows_axis]) * (r.end[rows_axis + 1] - r.begin[rows_axis + 1]);
  }

  const tensor::region all_;
  tensor::region interior_;
  const std::int64_t block_[2];
};

}  // namespace dice::schedule
