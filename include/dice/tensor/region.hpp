#pragma once

#include "dice/tensor/shape.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::tensor {

/// A box of a tensor: half-open intervals on its first four axes (N, C, H, W); further axes are always whole.
/// A structural type; axes past the tensor's rank hold [0, 1).
struct region {
  static constexpr int axes = 4;
  std::int64_t begin[axes]{};
  std::int64_t end[axes]{1, 1, 1, 1};

  friend constexpr bool operator==(const region&, const region&) = default;
};

/// The region that covers all of a tensor of shape `s`.
constexpr region whole(const shape& s) {
  return {.end = {s.dim[0], s.dim[1], s.dim[2], s.dim[3]}};  // 1 past the rank
}

constexpr bool empty(const region& r) {
  for (int a = 0; a < region::axes; ++a)
    if (r.end[a] <= r.begin[a]) return true;
  return false;
}

/// What both regions cover; may be empty.
constexpr region intersect(const region& a, const region& b) {
  region r;
  for (int i = 0; i < region::axes; ++i) {
    r.begin[i] = std::max(a.begin[i], b.begin[i]);
    r.end[i] = std::min(a.end[i], b.end[i]);
  }
  return r;
}

/// The smallest region that holds both.
constexpr region hull(const region& a, const region& b) {
  region r;
  for (int i = 0; i < region::axes; ++i) {
    r.begin[i] = std::min(a.begin[i], b.begin[i]);
    r.end[i] = std::max(a.end[i], b.end[i]);
  }
  return r;
}

constexpr bool contains(const region& outer, const region& inner) {
  for (int a = 0; a < region::axes; ++a)
    if (inner.begin[a] < outer.begin[a] || inner.end[a] > outer.end[a]) return false;
  return true;
}

/// Shape of the tensor that consists of `r` alone, cut out of a tensor of shape `s` (axes past the fourth whole).
constexpr shape extents(const region& r, const shape& s) {
  shape out = s;
  for (int a = 0; a < s.rank && a < region::axes; ++a) out[a] = r.end[a] - r.begin[a];
  return out;
}

/// Elements of `r` in a tensor of shape `s` (axes past the fourth counted whole).
constexpr std::int64_t elements(const region& r, const shape& s) {
  std::int64_t n = s.product(std::min(s.rank, region::axes), s.rank);
  for (int a = 0; a < region::axes; ++a) n *= r.end[a] - r.begin[a];
  return n;
}

/// Bytes of `r` in a tensor of shape `s`.
constexpr std::int64_t bytes(const region& r, const shape& s) { return elements(r, s) * element_bytes; }

}  // namespace dice::tensor
