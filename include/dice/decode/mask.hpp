// The class of each pixel.
#pragma once

#include "dice/decode/head.hpp"
#include "dice/meta/library.hpp"

#include <cstdint>
#include <vector>

namespace dice::decode {

/// The class of each pixel of a picture.
struct mask {
  static constexpr int no_class = -1;         ///< the class of pixels that have none
  static constexpr int most_classes = 65536;  ///< no integer from here on is a class

  int width = 0;                        ///< in pixels
  int height = 0;                       ///< in pixels
  std::vector<std::int32_t> classes{};  ///< of each pixel, row by row; no_class if one of its numbers is NaN or infinite, or
                                        ///< its integer is below 0 or not below most_classes
  std::vector<std::int64_t> counts{};   ///< the pixels of each class
  std::int64_t dropped = 0;             ///< the pixels of no class
};

/// Neighbouring pixels of one class.
struct run {
  std::int32_t class_index = 0;  ///< or mask::no_class
  std::int64_t pixels = 0;       ///< how many

  /// Whether both are equal.
  friend bool operator==(const run&, const run&) = default;
};

/// The mask of each picture of the batch: with several classes, the largest number of each pixel decides, of equal ones the
/// first. With one, class 1 is where the probability is higher than o.score, and class 0 elsewhere; with scale::automatic,
/// all numbers of the batch are probabilities if none lies outside of 0 … 1. Throws std::invalid_argument with
/// what_is_wrong.
DICE_API std::vector<mask> masks(const result& of, const options& o = {});

/// A mask as runs, row by row from the top left, as if each row went on in the next one.
DICE_API std::vector<run> runs(const mask& of);

}  // namespace dice::decode

#ifdef DICE_HEADER_ONLY
#include "dice/decode/mask.ipp"
#endif
