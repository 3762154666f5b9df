// Boxes in pixels of a picture that was resized for a network's input.
#pragma once

#include "dice/decode/box.hpp"
#include "dice/frames/scaling.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace dice::app {

/// How a network's input lies in a picture that was resized for it: x, then y.
using picture_axes = std::pair<frames::picture_axis, frames::picture_axis>;

/// Boxes in pixels of the picture instead of the network's input.
[[gnu::cold]] inline std::vector<decode::box> in_picture(std::vector<decode::box> boxes, const picture_axes& axes) {
  const auto move = [](const frames::picture_axis& a, float& corner, float& size) {
    corner = static_cast<float>(a.in_picture(corner));
    size *= static_cast<float>(a.from) / static_cast<float>(a.scaled);
  };
  for (auto& b : boxes) {
    move(axes.first, b.x, b.width);
    move(axes.second, b.y, b.height);
  }
  return boxes;
}

/// Boxes without their parts outside of a picture of `width`×`height` pixels; those that lie outside as a whole are left
/// out.
[[gnu::cold]] inline std::vector<decode::box> clipped(std::vector<decode::box> boxes, int width, int height) {
  const auto clip = [](float& corner, float& size, int most) {
    const float end = corner + size, edge = static_cast<float>(most);
    if (!(end > 0 && corner < edge)) return false;
    corner = std::max(corner, 0.0f);
    size = std::min(end, edge) - corner;
    return true;
  };
  std::erase_if(boxes, [&](decode::box& b) { return !(clip(b.x, b.width, width) && clip(b.y, b.height, height)); });
  return boxes;
}

}  // namespace dice::app
