#pragma once

#include "dice/tensor/type.hpp"

#include <cstdint>

namespace dice::tensor {

/// A box of a tensor: half-open intervals on its first four axes (N, C, H, W); further axes are always whole.
/// A structural type; axes past the tensor's rank hold [0, 1).
struct region {
  static constexpr int axes = 4;
  std::int64_t begin[axes]{};
  std::int64_t end[axes]{1, 1, 1, 1};

  friend constexpr bool operator==(const region& a, const region& b) {  // as `= default`, but in one expression
    return a.begin[0] == b.begin[0] && a.end[0] == b.end[0] && a.begin[1] == b.begin[1] && a.end[1] == b.end[1] &&
           a.begin[2] == b.begin[2] && a.end[2] == b.end[2] && a.begin[3] == b.begin[3] && a.end[3] == b.end[3];
  }
};

/// The region that covers all of a tensor of shape `s`.
constexpr region whole(const shape& s) {
  return {.end = {s.dim[0], s.dim[1], s.dim[2], s.dim[3]}};  // 1 past the rank
}

// Written out, since plans at compile time compare many regions, and calls and loops are expensive there.

constexpr bool empty(const region& r) {
  return r.end[0] <= r.begin[0] || r.end[1] <= r.begin[1] || r.end[2] <= r.begin[2] || r.end[3] <= r.begin[3];
}

/// What both regions cover; may be empty.
constexpr region intersect(const region& a, const region& b) {
  region r = a;
  for (int i = 0; i < region::axes; ++i) {
    if (b.begin[i] > r.begin[i]) r.begin[i] = b.begin[i];
    if (b.end[i] < r.end[i]) r.end[i] = b.end[i];
  }
  return r;
}

/// The smallest region that holds both.
constexpr region hull(const region& a, const region& b) {
  region r = a;
  for (int i = 0; i < region::axes; ++i) {
    if (b.begin[i] < r.begin[i]) r.begin[i] = b.begin[i];
    if (b.end[i] > r.end[i]) r.end[i] = b.end[i];
  }
  return r;
}

constexpr bool contains(const region& outer, const region& inner) {
  return inner.begin[0] >= outer.begin[0] && inner.end[0] <= outer.end[0] && inner.begin[1] >= outer.begin[1] &&
         inner.end[1] <= outer.end[1] && inner.begin[2] >= outer.begin[2] && inner.end[2] <= outer.end[2] &&
         inner.begin[3] >= outer.begin[3] && inner.end[3] <= outer.end[3];
}

/// Shape of the tensor that consists of `r` alone, cut out of a tensor of shape `s` (axes past the fourth whole).
constexpr shape extents(const region& r, const shape& s) {
  shape out = s;
  for (int a = 0; a < s.rank && a < region::axes; ++a) out.dim[a] = r.end[a] - r.begin[a];
  return out;
}

/// Elements of `r` in a tensor of shape `s` (axes past the fourth counted whole).
constexpr std::int64_t elements(const region& r, const shape& s) {
  std::int64_t n = 1;
  for (int a = region::axes; a < s.rank; ++a) n *= s.dim[a];
  for (int a = 0; a < region::axes; ++a) n *= r.end[a] - r.begin[a];
  return n;
}

/// Bytes of `r` in a tensor of type `t`.
constexpr std::int64_t bytes(const region& r, const type& t) { return elements(r, t) * t.element_bytes(); }

}  // namespace dice::tensor
