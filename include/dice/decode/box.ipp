#pragma once

#include "dice/decode/box.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace dice::decode {

DICE_API float intersection_over_union(const box& a, const box& b) {
  const float width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x),
              height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  if (!(width > 0 && height > 0)) return 0;
  const float both = width * height;
  return std::min(both / (a.width * a.height + b.width * b.height - both), 1.0f);  // rounding may make it more
}

DICE_API std::vector<box> best(std::vector<box> boxes, int most) {
  std::ranges::stable_sort(boxes, std::greater<>(), &box::score);
  boxes.resize(std::min(boxes.size(), static_cast<std::size_t>(most)));
  return boxes;
}

DICE_API std::vector<box> non_maximum_suppression(std::vector<box> candidates, float overlap, int most,
                                                  bool across_classes) {
  const auto all = candidates.size();
  candidates = best(std::move(candidates), static_cast<int>(all));
  std::vector<box> kept;
  for (const auto& candidate : candidates) {
    if (kept.size() == static_cast<std::size_t>(most)) break;
    const auto drops = [&](const box& other) {
      return (across_classes || other.class_index == candidate.class_index) &&
             intersection_over_union(other, candidate) > overlap;
    };
    if (std::ranges::none_of(kept, drops)) kept.push_back(candidate);
  }
  return kept;
}

}  // namespace dice::decode
