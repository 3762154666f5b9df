// What a network has found in a picture, as text and as JSON.
#pragma once

#include "dice/app/picture_boxes.hpp"
#include "dice/app/picture_sizes.hpp"
#include "dice/decode/boxes.hpp"
#include "dice/decode/classes.hpp"
#include "dice/decode/mask.hpp"
#include "dice/text/foreign.hpp"
#include "dice/text/json.hpp"
#include "dice/text/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// What one picture shows, as its head says: boxes, classes or the class of each pixel.
struct finding {
  decode::head as = decode::head::classes;
  std::vector<decode::box> boxes{};  ///< in pixels of the picture if its size is known, else of the network's input
  std::vector<decode::class_score> classes{};
  std::optional<decode::mask> mask{};  ///< of the network's input
  std::int64_t dropped = 0;            ///< of all of these, because of NaN and the like
  std::optional<picture_axes> axes{};  ///< how the input lies in the picture, if its size is known

  /// "person 0.91 at 120, 44, 80×200; dog …", "seven 0.98, one 0.01", "person 12.3 %, dog 4 %", "nothing".
  [[gnu::cold]] std::string text(std::span<const std::string> labels) const {
    std::string out;
    const auto add = [&](const char* separator, const std::string& one) { out += (out.empty() ? "" : separator) + one; };
    const auto whole = [](float x) { return text::number_text(std::round(x) + 0.0, "%.0f"); };
    for (const auto& b : boxes)
      add("; ", scored(labels, b.class_index, b.score) + " at " + whole(b.x) + ", " + whole(b.y) + ", " + whole(b.width) +
                    "×" + whole(b.height));
    for (const auto& c : classes) add(", ", scored(labels, c.class_index, c.score));
    for (const auto& [index, pixels] : areas())
      add(", ", name_of(labels, index) +
                    text::number_text(100.0 * static_cast<double>(pixels) / static_cast<double>(mask->classes.size()),
                                      " %.3g %%"));
    return out.empty() ? "nothing" : out;
  }

  /// Adds "boxes", "classes" or "mask" to a line of JSON, and how large the picture is.
  [[gnu::cold]] void add_to(text::json_object& line, std::span<const std::string> labels) const {
    using text::json_text;
    const auto class_of = [&](int index) {
      auto out = text::json_object().add("class", index);
      if (has_label(labels, index)) out.add("label", labels[static_cast<std::size_t>(index)]);
      return out;
    };
    text::json_array all;
    if (axes) line.add("picture_size", json_text{text::json_array().add(axes->first.from).add(axes->second.from).json()});
    if (as == decode::head::classes) {
      for (const auto& c : classes) all.add(json_text{class_of(c.class_index).add("score", c.score).json()});
      line.add("classes", all);
    } else if (mask) {
      for (const auto& [index, pixels] : areas()) all.add(json_text{class_of(index).add("pixels", pixels).json()});
      text::json_array runs;
      for (const auto& r : decode::runs(*mask))
        runs.add(json_text{text::json_array().add(r.class_index).add(r.pixels).json()});
      const auto value =
          text::json_object().add("width", mask->width).add("height", mask->height).add("classes", all).add("runs", runs);
      line.add("mask", json_text{value.json()});
    } else {
      for (const auto& b : boxes) {
        auto one = class_of(b.class_index).add("score", b.score).add("x", b.x).add("y", b.y);
        all.add(json_text{one.add("width", b.width).add("height", b.height).json()});
      }
      line.add("boxes", all);
    }
    if (dropped > 0) line.add("dropped", dropped);
  }

  /// The class of each pixel of the mask as a byte: 255 for those that have none, and classes from 255 on.
  std::string bytes() const {
    std::string out;
    for (const auto c : mask->classes) out += static_cast<char>(c < 0 || c > 255 ? 255 : c);
    return out;
  }

 private:
  static bool has_label(std::span<const std::string> labels, int index) {
    return index >= 0 && index < static_cast<std::int64_t>(labels.size());
  }
  static std::string name_of(std::span<const std::string> labels, int index) {
    return has_label(labels, index) ? text::shown(labels[static_cast<std::size_t>(index)])
                                    : "class " + std::to_string(index);
  }
  static std::string scored(std::span<const std::string> labels, int index, float score) {
    return name_of(labels, index) + text::number_text(static_cast<double>(score), " %.2f");
  }
  /// The classes in the mask and their pixels, the largest areas first.
  std::vector<std::pair<int, std::int64_t>> areas() const {
    std::vector<std::pair<int, std::int64_t>> out;
    for (std::size_t c = 0; mask && c < mask->counts.size(); ++c)
      if (mask->counts[c] > 0) out.emplace_back(static_cast<int>(c), mask->counts[c]);
    std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.second > b.second; });
    return out;
  }
};

/// What the results of a frame show, one for each picture of a batch. `sizes`: of the pictures of the network's input.
[[gnu::cold]] inline std::vector<finding> findings_of(decode::head as, std::span<const decode::result> results,
                                                      const decode::options& how, std::int64_t frame,
                                                      const picture_sizes& sizes) {
  std::vector<finding> out;
  const auto next = [&](std::int64_t dropped) -> finding& {
    const auto axes = sizes.axes(frame, static_cast<std::int64_t>(out.size()));
    return out.emplace_back(finding{.as = as, .dropped = dropped, .axes = axes});
  };
  if (as == decode::head::classes) {
    for (auto& p : decode::classes(results[0], how)) next(p.dropped).classes = std::move(p.classes);
  } else if (as == decode::head::mask) {
    for (auto& m : decode::masks(results[0], how)) {
      auto& to = next(m.dropped);
      to.mask = std::move(m);
    }
  } else {
    for (auto& p : decode::boxes(as, results, how)) {
      auto& to = next(p.dropped);
      to.boxes = std::move(p.boxes);
      if (to.axes) to.boxes = clipped(in_picture(std::move(to.boxes), *to.axes), to.axes->first.from, to.axes->second.from);
    }
  }
  return out;
}

}  // namespace dice::app
