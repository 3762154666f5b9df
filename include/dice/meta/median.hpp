#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dice::meta {

/// The middle value, or the greater of the two middle values if their number is even. `of` must not be empty.
inline double median(std::vector<double> of) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

}  // namespace dice::meta
