#pragma once

#include "dice/graph/network.hpp"
#include "dice/tensor/region.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::parts {

/// The part of a parameter that `box` holds. Throws graph::model_error if it lies in more pieces than a parameter can have.
constexpr graph::parameter crop(const graph::parameter& whole, const tensor::region& box) {
  const auto& s = whole.extents;
  const auto element = tensor::size_of(whole.element);
  const int axes = std::min(s.rank, tensor::region::axes);
  graph::parameter out = whole;
  if (box == tensor::whole(s)) return out;
  out.is_part = true;
  int last = 0;  // the innermost axis that is cut
  for (int a = 0; a < axes; ++a) {
    out.extents[a] = box.end[a] - box.begin[a];
    out.offset += box.begin[a] * s.product(a + 1, s.rank) * element;
    if (out.extents[a] != s[a]) last = a;
  }
  // Outside of it: rows of pieces; axes that continue each other count as one.
  std::int64_t count[2]{1, 1}, pitch[2]{0, 0};
  int levels = 0;
  for (int a = last - 1; a >= 0; --a) {
    const auto n = out.extents[a], step = s.product(a + 1, s.rank) * element;
    if (n == 1) continue;
    if (levels > 0 && step == count[levels - 1] * pitch[levels - 1]) {
      count[levels - 1] *= n;
      continue;
    }
    graph::require(levels < 2, "a part of a constant lies in too many pieces");
    count[levels] = n;
    pitch[levels] = step;
    ++levels;
  }
  out.rows = count[0];
  out.row_pitch = pitch[0];
  out.planes = count[1];
  out.plane_pitch = pitch[1];
  return out;
}

}  // namespace dice::parts
