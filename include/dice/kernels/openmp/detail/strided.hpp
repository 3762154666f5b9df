#pragma once

#include "dice/kernels/openmp/detail/copy.hpp"

#include <cstdint>

namespace dice::kernels::openmp {

/// A view of a tensor: extents and strides (of any sign) in elements. Adjacent axes that continue with an even stride are
/// merged.
struct strided {
  int rank = 0;
  static constexpr int max_rank = 2 * tensor::max_rank;  // Tile divides axes
  std::int64_t extent[max_rank]{}, stride[max_rank]{};

  void push_back(std::int64_t n, std::int64_t step) {
    if (n == 1) return;
    if (rank > 0 && stride[rank - 1] == step * n) {
      extent[rank - 1] *= n;
      stride[rank - 1] = step;
    } else {
      extent[rank] = n;
      stride[rank] = step;
      ++rank;
    }
  }
};

/// Copies a view of `from` to contiguous memory. If the last axis is strided and another is contiguous (a transposition),
/// blocks of both are copied, so that whole cache lines are used.
DICE_SHARED inline void gather(float* to, const float* from, strided view) {
  if (view.rank == 0) {
    view.extent[0] = 1;
    view.stride[0] = 1;
    view.rank = 1;
  }
  const int last = view.rank - 1;
  int across = -1;
  for (int a = 0; a < last; ++a)
    if (view.stride[a] == 1 && view.stride[last] != 1) across = a;

  constexpr std::int64_t tile = 32;
  const auto columns = view.extent[last], step = view.stride[last];
  std::int64_t pitch[strided::max_rank];  // of the output
  pitch[last] = 1;
  for (int a = last; a > 0; --a) pitch[a - 1] = pitch[a] * view.extent[a];
  // Rows of the output; axis `across`, if there is one, is left out and divided into blocks.
  std::int64_t rows = 1, blocks = 1;
  for (int a = 0; a < last; ++a)
    if (a != across) rows *= view.extent[a];
  if (across >= 0) blocks = (view.extent[across] + tile - 1) / tile;
  const auto work = across >= 0 ? columns * tile : columns;

  parallel_for(rows * blocks, work, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      auto rest = i / blocks;
      const float* source = from;
      float* target = to;
      for (int a = last - 1; a >= 0; --a) {
        if (a == across) continue;
        source += rest % view.extent[a] * view.stride[a];
        target += rest % view.extent[a] * pitch[a];
        rest /= view.extent[a];
      }
      if (across < 0) {
        copy_row(target, 1, source, step, columns);
        continue;
      }
      const auto first = i % blocks * tile, stop = std::min(view.extent[across], first + tile);
      for (std::int64_t x = 0; x < columns; x += tile)
        for (auto y = first; y < stop; ++y)
          copy_row(target + y * pitch[across] + x, 1, source + y + x * step, step, std::min(tile, columns - x));
    }
  });
}

}  // namespace dice::kernels::openmp
