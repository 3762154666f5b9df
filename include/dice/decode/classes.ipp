#pragma once

#include "dice/decode/classes.hpp"
#include "dice/decode/detail/extremes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice::decode {

DICE_API found_classes most_probable(std::span<const float> numbers, const options& o) {
  found_classes out;
  float largest = -std::numeric_limits<float>::infinity();
  double sum = 0;
  bool probable = true;
  for (std::size_t c = 0; c < numbers.size(); ++c) {
    const float x = numbers[c];
    if (!std::isfinite(x)) {
      ++out.dropped;
      continue;
    }
    out.classes.push_back({static_cast<int>(c), x});
    largest = std::max(largest, x);
    sum += static_cast<double>(x);
    probable &= !detail::is_logit(x);
  }
  const auto k = std::min(out.classes.size(), static_cast<std::size_t>(*with_defaults(head::classes, o).most));
  const auto higher = [](const class_score& a, const class_score& b) {
    return a.score != b.score ? a.score > b.score : a.class_index < b.class_index;
  };
  std::partial_sort(out.classes.begin(), out.classes.begin() + static_cast<std::ptrdiff_t>(k), out.classes.end(), higher);
  probable &= std::abs(sum - 1) <= 0.01;
  if (o.scores == scale::logits || (o.scores == scale::automatic && !probable)) {
    const auto power = [&](float x) { return std::exp(static_cast<double>(x) - static_cast<double>(largest)); };
    sum = 0;
    for (const auto& each : out.classes) sum += power(each.score);
    for (auto& each : out.classes) each.score = static_cast<float>(power(each.score) / sum);
  }
  out.classes.resize(k);
  return out;
}

DICE_API std::vector<found_classes> classes(const result& of, const options& o) {
  if (const auto why = what_is_wrong(head::classes, {&of.type, 1}, o); !why.empty()) throw std::invalid_argument(why);
  const auto pictures = of.type.rank > 1 ? of.type[0] : 1;
  const auto n = static_cast<std::size_t>(of.type.elements() / pictures);
  std::vector<found_classes> out;
  for (std::size_t p = 0; p < static_cast<std::size_t>(pictures); ++p)
    out.push_back(most_probable({of.numbers + p * n, n}, o));
  return out;
}

}  // namespace dice::decode
