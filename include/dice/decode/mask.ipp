#pragma once

#include "dice/decode/detail/extremes.hpp"
#include "dice/decode/mask.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice::decode {

namespace detail {

/// The class of the largest of `classes` numbers for each of `pixels` pixels, plane by plane.
inline void argmax(const float* planes, std::int64_t classes, std::int64_t pixels, std::int32_t* to) {
  constexpr std::int64_t block = 1024;
  float most[block], zero[block];
  std::int32_t index[block];
  for (std::int64_t begin = 0; begin < pixels; begin += block, to += block) {
    const auto size = std::min(block, pixels - begin);
    std::fill_n(most, size, -std::numeric_limits<float>::infinity());
    std::fill_n(zero, size, 0.0f);
    std::fill_n(index, size, 0);
    for (std::int64_t c = 0; c < classes; ++c) {
      const float* const numbers = planes + c * pixels + begin;
      const auto number = static_cast<std::int32_t>(c);
      // Two loops, and bits instead of a branch: g++ makes no vectors otherwise, which takes five times as long.
      for (std::int64_t i = 0; i < size; ++i) {
        const std::int32_t larger = -(numbers[i] > most[i]);
        index[i] = (number & larger) | (index[i] & ~larger);
      }
      for (std::int64_t i = 0; i < size; ++i) {
        most[i] = numbers[i] > most[i] ? numbers[i] : most[i];
        zero[i] += numbers[i] - numbers[i];
      }
    }
    for (std::int64_t i = 0; i < size; ++i) to[i] = zero[i] == 0 ? index[i] : mask::no_class;
  }
}

}  // namespace detail

DICE_API std::vector<mask> masks(const result& of, const options& o) {
  const auto& t = of.type;
  if (const auto why = what_is_wrong(head::mask, {&t, 1}, o); !why.empty()) throw std::invalid_argument(why);
  const bool integers = t.element != tensor::number::float32;
  const auto height = t[t.rank - 2], width = t[t.rank - 1], pixels = height * width, classes = integers ? 1 : t[1];
  float least = *with_defaults(head::mask, o).score;
  if (o.scores == scale::logits ||
      (o.scores == scale::automatic && classes == 1 && std::any_of(of.numbers, of.numbers + t.elements(), detail::is_logit)))
    least = std::log(least / (1 - least));
  std::vector<mask> out;
  for (std::int64_t p = 0; p < t[0]; ++p) {
    auto& m = out.emplace_back(mask{static_cast<int>(width), static_cast<int>(height)});
    m.classes.resize(static_cast<std::size_t>(pixels));
    const float* const numbers = of.numbers + p * classes * pixels;
    if (classes > 1) detail::argmax(numbers, classes, pixels, m.classes.data());
    else
      std::transform(numbers, numbers + pixels, m.classes.begin(), [&](float x) {
        if (!std::isfinite(x)) return mask::no_class;
        if (!integers) return x > least ? 1 : 0;
        return x >= 0 && x < mask::most_classes ? static_cast<int>(x) : mask::no_class;
      });
    m.counts.resize(integers ? 0 : static_cast<std::size_t>(std::max<std::int64_t>(classes, 2)));
    for (const auto c : m.classes) {
      const auto index = static_cast<std::size_t>(c);
      if (c == mask::no_class) ++m.dropped;
      else {
        if (index >= m.counts.size()) m.counts.resize(index + 1);
        ++m.counts[index];
      }
    }
  }
  return out;
}

DICE_API std::vector<run> runs(const mask& of) {
  std::vector<run> out;
  for (const auto c : of.classes) {
    if (out.empty() || out.back().class_index != c) out.push_back({c, 0});
    ++out.back().pixels;
  }
  return out;
}

}  // namespace dice::decode
