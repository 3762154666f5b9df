// Heads whose results come in several orders.
#pragma once

#include "dice/tensor/type.hpp"

#include <cstddef>
#include <span>

namespace dice::decode::detail {

/// Which of the results of ssd or yolov10 has the boxes: the first, unless only the second has 4 numbers for each.
inline std::size_t corners_of(std::span<const tensor::type> results) { return results[0][2] == 4 ? 0 : 1; }

/// Whether yolov8's boxes are rows, (B, N, 4 + C). Without a number of classes, there are at least as many boxes as numbers
/// for each.
inline bool has_rows(const tensor::type& t, int classes) {
  return classes > 0 ? t[2] == 4 + classes && t[1] != 4 + classes : t[2] < t[1];
}

}  // namespace dice::decode::detail
