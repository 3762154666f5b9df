// Boxes, labels and masks in pictures. Only with stb.
#pragma once

#include "dice/app/picture_boxes.hpp"
#include "dice/app/rgb_picture.hpp"
#include "dice/decode/box.hpp"
#include "dice/decode/mask.hpp"
#include "dice/frames/scaling.hpp"
#include "dice/text/foreign.hpp"
#include "dice/text/table.hpp"

#include <stb/stb_easy_font.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dice::app {

/// The axes of a picture that was stretched to an input of `width`×`height` pixels. For other ways, frames::axes_of.
inline picture_axes stretched(const rgb_picture& picture, int width, int height) {
  return {{picture.width, width, width}, {picture.height, height, height}};
}

/// The colour of a class: classes with near indices have colours far apart.
[[gnu::cold]] inline rgb colour_of(int class_index) {
  const double turn = std::fmod(std::max(class_index, 0) * 0.6180339887498949, 1.0);  // the golden ratio
  const auto sample = [&](double offset) {
    const double around = std::abs(std::fmod(turn + offset, 1.0) * 6 - 3) - 1;  // hue; 0 … 1 is the colour's edge
    return static_cast<std::uint8_t>(40 + 200 * std::clamp(around, 0.0, 1.0));
  };
  return {sample(0), sample(2 / 3.0), sample(1 / 3.0)};
}

namespace detail {

/// Pixels from left and top to before right and bottom.
struct rectangle {
  int left = 0, top = 0, right = 0, bottom = 0;
};

inline void fill(rgb_picture& picture, const rectangle& r, rgb colour) {
  for (int y = std::max(r.top, 0); y < std::min(r.bottom, picture.height); ++y)
    for (int x = std::max(r.left, 0); x < std::min(r.right, picture.width); ++x) picture.at(x, y) = colour;
}

/// A coordinate as a pixel from 0 to `most`, also of NaN.
inline int pixel(float x, int most) {
  return x > 0 ? x < static_cast<float>(most) ? static_cast<int>(std::lround(x)) : most : 0;
}

/// A label as stb's font has it, in ASCII without control characters: other characters become '?'.
[[gnu::cold]] inline std::string drawable(std::string_view label) {
  std::string out;
  for (const char c : text::shown(label.substr(0, 256))) {  // more is in no picture
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) out += c;
    else if (byte >= 0xc0) out += '?';  // the first byte of a character
  }
  return out;
}

inline int text_width(std::string text) { return ::stb_easy_font_width(text.data()); }

/// Writes ASCII text, each point of the font as `scale`×`scale` pixels.
[[gnu::cold]] inline void write(rgb_picture& picture, int x, int y, std::string text, int scale, rgb colour) {
  constexpr std::size_t corner = 16, quad = 4 * corner;  // bytes: x, y, z as floats, a colour
  std::vector<char> quads(text.size() * 32 * quad);
  const int n = ::stb_easy_font_print(0, 0, text.data(), nullptr, quads.data(), static_cast<int>(quads.size()));
  for (int i = 0; i < n; ++i) {
    const auto coordinate = [&](std::size_t of, std::size_t axis) {
      float out = 0;
      std::memcpy(&out, &quads[static_cast<std::size_t>(i) * quad + of * corner + axis * sizeof out], sizeof out);
      return static_cast<int>(out) * scale;
    };
    fill(picture, {x + coordinate(0, 0), y + coordinate(0, 1), x + coordinate(2, 0), y + coordinate(2, 1)}, colour);
  }
}

}  // namespace detail

/// Draws boxes in pixels of the picture, each with its label and score, such as "person 0.91", in the colour of its class. A
/// class without a label is "class 7". The first box comes last, on top of the others. Lines and letters grow with the
/// picture. Labels stay inside of it: above the box, or else in its upper edge; too long ones are cut.
[[gnu::cold]] inline void draw_boxes(rgb_picture& picture, std::span<const decode::box> boxes,
                                     std::span<const std::string> labels = {}) {
  const int scale = std::max(1, std::min(picture.width, picture.height) / 240);
  for (auto b = boxes.rbegin(); b != boxes.rend(); ++b) {
    const detail::rectangle r{detail::pixel(b->x, picture.width), detail::pixel(b->y, picture.height),
                              detail::pixel(b->x + b->width, picture.width),
                              detail::pixel(b->y + b->height, picture.height)};
    if (r.left >= r.right || r.top >= r.bottom) continue;  // outside
    const auto colour = colour_of(b->class_index);
    detail::fill(picture, {r.left, r.top, r.right, std::min(r.top + scale, r.bottom)}, colour);
    detail::fill(picture, {r.left, std::max(r.bottom - scale, r.top), r.right, r.bottom}, colour);
    detail::fill(picture, {r.left, r.top, std::min(r.left + scale, r.right), r.bottom}, colour);
    detail::fill(picture, {std::max(r.right - scale, r.left), r.top, r.right, r.bottom}, colour);

    const auto index = static_cast<std::size_t>(b->class_index);
    auto label = index < labels.size() ? detail::drawable(labels[index]) : "class " + std::to_string(b->class_index);
    const auto score = text::number_text(static_cast<double>(b->score), " %.2f");
    const int margin = 2;
    const auto width_of = [&] { return (detail::text_width(label + score) + 2 * margin) * scale; };
    while (!label.empty() && width_of() > picture.width) label.pop_back();
    const int width = width_of(), height = 11 * scale;
    const int x = std::clamp(r.left, 0, std::max(0, picture.width - width));
    const int y = std::clamp(r.top >= height ? r.top - height : r.top, 0, std::max(0, picture.height - height));
    detail::fill(picture, {x, y, x + width, y + height}, colour);
    const bool bright = 299 * colour.red + 587 * colour.green + 114 * colour.blue > 128'000;  // ITU-R BT.601
    detail::write(picture, x + margin * scale, y + margin * scale, label + score, scale,
                  bright ? rgb{0, 0, 0} : rgb{255, 255, 255});
  }
}

/// Mixes the colours of classes into the pixels of a picture, `opacity` of 1 of each; the class `background` and pixels of
/// no class stay as they are. The mask covers the network's input, which lies in the picture as `axes` say.
[[gnu::cold]] inline void draw_mask(rgb_picture& picture, const decode::mask& mask, const picture_axes& axes,
                                    float opacity = 0.5f, int background = 0) {
  // The mask's column (or row) at each of the picture's; -1 where the network did not look.
  const auto places = [](const frames::picture_axis& a, int size, int extent) {
    std::vector<int> out(static_cast<std::size_t>(size), -1);
    for (int i = 0; i < size; ++i) {
      const double at = (i + 0.5) * a.scaled / a.from - a.skipped();  // in the part that the input shows
      if (at >= 0 && at < a.shown()) out[static_cast<std::size_t>(i)] = static_cast<int>((at + a.margin()) * extent / a.to);
    }
    return out;
  };
  const auto columns = places(axes.first, picture.width, mask.width),
             rows = places(axes.second, picture.height, mask.height);
  std::vector<rgb> colours;  // of the classes so far
  const auto mixed = [&](std::uint8_t below, std::uint8_t above) {
    return static_cast<std::uint8_t>(
        std::lround(static_cast<float>(below) * (1 - opacity) + static_cast<float>(above) * opacity));
  };
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) {
      const int column = columns[static_cast<std::size_t>(x)], row = rows[static_cast<std::size_t>(y)];
      if (column < 0 || row < 0) continue;
      const auto c = mask.classes[static_cast<std::size_t>(row) * static_cast<std::size_t>(mask.width) +
                                  static_cast<std::size_t>(column)];
      if (c == decode::mask::no_class || c == background) continue;
      while (colours.size() <= static_cast<std::size_t>(c)) colours.push_back(colour_of(static_cast<int>(colours.size())));
      auto& pixel = picture.at(x, y);
      const auto& colour = colours[static_cast<std::size_t>(c)];
      pixel = {mixed(pixel.red, colour.red), mixed(pixel.green, colour.green), mixed(pixel.blue, colour.blue)};
    }
}

}  // namespace dice::app
