#pragma once

#include "dice/app/picture_boxes.hpp"
#include "dice/frames/picture_form.hpp"
#include "dice/frames/scaling.hpp"
#include "dice/job/record.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// The sizes of the pictures of which a graph input's frames are made.
struct picture_sizes {
  int layer = -1;                     ///< the graph input; -1: its frames are no pictures
  frames::picture_form form{};        ///< only its size and fit count
  std::int64_t per_frame = 1;         ///< more than one if the network takes batches
  std::vector<std::int64_t> sizes{};  ///< width and height of each, which repeat cyclically; 0: no picture, but numbers

  /// How the input lies in picture `k` of frame `frame`; nothing if the frame is no picture.
  std::optional<picture_axes> axes(std::int64_t frame, std::int64_t k = 0) const {
    if (sizes.empty()) return {};
    const auto at = 2 * static_cast<std::size_t>(frame * per_frame + k) % sizes.size();
    const int width = static_cast<int>(sizes[at]), height = static_cast<int>(sizes[at + 1]);
    if (width == 0) return {};
    return frames::axes_of(width, height, form);
  }

  /// For other ranks.
  std::string text() const {
    job::record out;
    out.put({layer, form.width, form.height, static_cast<std::int64_t>(form.fit), per_frame});
    out.put(sizes);
    return out.text();
  }
  /// Adds what another rank's text() says: of several inputs that have pictures, the first counts.
  void add(const std::string& text) {
    job::record in(text);
    const auto of = in.get_numbers();
    if (of.size() != 5 || of[0] < 0 || (layer >= 0 && of[0] > layer)) return;
    layer = static_cast<int>(of[0]);
    form = {
        .height = static_cast<int>(of[2]), .width = static_cast<int>(of[1]), .fit = static_cast<frames::fit_mode>(of[3])};
    per_frame = of[4];
    sizes = in.get_numbers();
  }
};

}  // namespace dice::app
