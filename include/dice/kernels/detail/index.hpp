#pragma once

#include "dice/tensor/tensor.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::kernels::detail {

/// Position of an element along each axis.
struct index {
  std::int64_t at[tensor::max_rank]{};
  std::int64_t& operator[](int axis) { return at[axis]; }
  std::int64_t operator[](int axis) const { return at[axis]; }
};

/// Position of the element that lies `flat` elements into a row-major tensor of shape `s`.
inline index position(std::int64_t flat, const tensor::shape& s) {
  index p;
  for (int a = s.rank - 1; a >= 0; --a) {
    p[a] = flat % s[a];
    flat /= s[a];
  }
  return p;
}

/// How many elements into a row-major tensor of shape `s` position `p` lies.
inline std::int64_t offset(const index& p, const tensor::shape& s) {
  std::int64_t flat = 0;
  for (int a = 0; a < s.rank; ++a) flat = flat * s[a] + p[a];
  return flat;
}

/// The element that number `index` of a weights file names on an axis of `extent` elements: one of them, whatever the file
/// says.
inline std::int64_t element_of(float index, std::int64_t extent) {
  return index > 0 ? static_cast<std::int64_t>(std::min(index, static_cast<float>(extent - 1))) : 0;
}

}  // namespace dice::kernels::detail
