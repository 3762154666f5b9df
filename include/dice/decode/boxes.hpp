// From the results of detectors to boxes.
#pragma once

#include "dice/decode/box.hpp"
#include "dice/decode/head.hpp"
#include "dice/meta/library.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dice::decode {

/// What a network has found in one picture.
struct found_boxes {
  std::vector<box> boxes{};  ///< the highest score first
  /// Boxes that were dropped because a number that counts is NaN or infinite, their size is negative, or their class is no
  /// number of a class. Of boxes whose scores are too low anyway, only the scores are looked at (of yolov5, objectness).
  std::int64_t dropped = 0;
};

/// The boxes of each picture of the batch. Those of equal scores come in the network's order. Throws std::invalid_argument
/// with what_is_wrong.
DICE_API std::vector<found_boxes> boxes(head as, std::span<const result> results, const options& o = {});

}  // namespace dice::decode

#ifdef DICE_HEADER_ONLY
#include "dice/decode/boxes.ipp"
#endif
