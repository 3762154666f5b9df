// Boxes around what a network has found, and which of them are kept.
#pragma once

#include "dice/meta/library.hpp"

#include <vector>

namespace dice::decode {

/// What a network has found: the rectangle from corner (x, y), left and above, in pixels of the network's input. Parts of it
/// may lie outside of the picture.
struct box {
  float x = 0;          ///< of the left side
  float y = 0;          ///< of the upper side
  float width = 0;      ///< 0 or more
  float height = 0;     ///< 0 or more
  float score = 0;      ///< how sure the network is, from 0 to 1
  int class_index = 0;  ///< from 0; that of a label in a file of labels

  /// Whether all numbers are equal.
  friend bool operator==(const box&, const box&) = default;
};

/// The area that two boxes share, divided by the area that they cover together: 0 … 1; 0 if they cover none.
DICE_API float intersection_over_union(const box& a, const box& b);

/// Boxes by their scores, the highest first; of equal scores, as they were. Keeps the first `most`.
DICE_API std::vector<box> best(std::vector<box> boxes, int most);

/// Greedy non-maximum suppression: keeps the box with the highest score, drops all others of its class whose
/// intersection_over_union with it is greater than `overlap`, and goes on with the rest, until `most` boxes are kept. With
/// `across_classes`, a box also drops those of other classes. Of equal scores, the box that comes first in `candidates`
/// counts as the higher one. Scores must not be NaN. Returns the kept boxes, the highest score first.
DICE_API std::vector<box> non_maximum_suppression(std::vector<box> candidates, float overlap, int most,
                                                  bool across_classes = false);

}  // namespace dice::decode

#ifdef DICE_HEADER_ONLY
#include "dice/decode/box.ipp"
#endif
