#pragma once

#include "dice/tensor/shape.hpp"

#include <xtensor/xarray.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dice::frames {

/// The form in which users hand over frames and receive results: row-major float32.
using tensor = xt::xarray<float, xt::layout_type::row_major>;

/// Shape of `frames` frames of shape `one`, joined along the leading dimension: (1, 10) and 5 give (5, 10); () gives (5).
inline std::vector<std::size_t> stacked(const dice::tensor::shape& one, std::int64_t frames) {
  std::vector<std::size_t> out{static_cast<std::size_t>(frames * one.product(0, one.rank < 1 ? one.rank : 1))};
  for (int a = 1; a < one.rank; ++a) out.push_back(static_cast<std::size_t>(one[a]));
  return out;
}

/// Frames of shape `one` in a tensor of shape `all`: 0 or more; -1 if it is not such a stack.
template <class Shape> std::int64_t frames_in(const Shape& all, const dice::tensor::shape& one) {
  const std::int64_t leading = one.rank < 1 ? 1 : one[0];
  if (all.size() != static_cast<std::size_t>(one.rank < 1 ? 1 : one.rank)) return -1;
  for (std::size_t a = 1; a < all.size(); ++a)
    if (static_cast<std::int64_t>(all[a]) != one[static_cast<int>(a)]) return -1;
  const auto first = static_cast<std::int64_t>(all[0]);
  return first % leading ? -1 : first / leading;
}

/// "(1, 3, 224, 224)"; `leading`, if not empty, stands for the first extent.
template <class Shape> std::string shape_text(const Shape& s, const std::string& leading = {}) {
  std::string out = "(";
  bool first = true;
  for (const auto d : s) {
    out += first ? "" : ", ";
    out += first && !leading.empty() ? leading : std::to_string(d);
    first = false;
  }
  return out + (out.find(',') == std::string::npos && !first ? ",)" : ")");
}

}  // namespace dice::frames
