// The most probable classes of a picture.
#pragma once

#include "dice/decode/head.hpp"
#include "dice/meta/library.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dice::decode {

/// A class and how probable it is.
struct class_score {
  int class_index = 0;  ///< from 0
  float score = 0;      ///< probability, from 0 to 1

  /// Whether both are equal.
  friend bool operator==(const class_score&, const class_score&) = default;
};

/// The classes of one picture.
struct found_classes {
  std::vector<class_score> classes{};  ///< the most probable first; equal ones by index
  std::int64_t dropped = 0;            ///< numbers that are NaN or infinite; the others are taken as if these did not exist
};

/// The o.most most probable classes of one picture. With scale::automatic, numbers from 0 to 1 whose sum is 1 ± 0.01 are
/// probabilities; softmax is applied to all others.
DICE_API found_classes most_probable(std::span<const float> numbers, const options& o = {});

/// The same for each picture of the batch. Throws std::invalid_argument with what_is_wrong.
DICE_API std::vector<found_classes> classes(const result& of, const options& o = {});

}  // namespace dice::decode

#ifdef DICE_HEADER_ONLY
#include "dice/decode/classes.ipp"
#endif
